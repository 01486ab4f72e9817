"""Short facts about each function of a run, for comparison between runs."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.model.counts import guard_count
from depyf.model.parts import TRIGGER_WORDS
from depyf.model.run import Session

Facts = dict[str, str]
"""The value of each fact of a run, by its name."""


def facts(session: Session) -> Facts:
    """Return the facts of a run that are compared with other runs."""
    values_by_fact: dict[str, list[str]] = {}
    for function in session.functions.values():
        root = session.functions[function.root]
        place = f"{root.name}, {function.filename}:{function.resumes_at or function.first_line}"
        for compiled in function.compiles:
            stages = ", ".join(sorted({artefact.stage for artefact in compiled.artefacts}))
            values_by_fact.setdefault(f"compiles of {place}", []).append(TRIGGER_WORDS[type(compiled.trigger)])
            values_by_fact.setdefault(f"operations of {place}", []).append(str(compiled.op_count))
            values_by_fact.setdefault(f"guards of {place}", []).append(str(guard_count(compiled)))
            values_by_fact.setdefault(f"artefacts of {place}", []).append(stages or "none")
            for broken in compiled.breaks:
                values_by_fact.setdefault(f"graph breaks in {place}", []).append(broken.reason)
            if compiled.failure is not None:
                values_by_fact.setdefault(f"{place} given up", []).append(compiled.failure.reason)
    return {name: "; ".join(values) for name, values in values_by_fact.items()}


def differences(facts_of_runs: dict[str, Facts]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield each fact that differs between the runs, with the labels of the runs that have each value."""
    names = dict.fromkeys(name for facts_of_run in facts_of_runs.values() for name in facts_of_run)
    for name in names:
        values: dict[str, list[str]] = {}
        for label, facts_of_run in facts_of_runs.items():
            values.setdefault(facts_of_run.get(name, "none"), []).append(label)
        if len(values) > 1:
            yield name, values
