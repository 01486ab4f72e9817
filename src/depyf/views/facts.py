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
    found: dict[str, list[str]] = {}
    for function in session.functions.values():
        root = session.functions[function.root]
        place = f"{root.name}, {function.filename}:{function.resumes_at or function.first_line}"
        for each in function.compiles:
            stages = ", ".join(sorted({artefact.stage for artefact in each.artefacts}))
            found.setdefault(f"compiles of {place}", []).append(TRIGGER_WORDS[type(each.trigger)])
            found.setdefault(f"operations of {place}", []).append(str(each.op_count))
            found.setdefault(f"guards of {place}", []).append(str(guard_count(each)))
            found.setdefault(f"artefacts of {place}", []).append(stages or "none")
            for broken in each.breaks:
                found.setdefault(f"graph breaks in {place}", []).append(broken.reason)
            if each.failure is not None:
                found.setdefault(f"{place} given up", []).append(each.failure.reason)
    return {name: "; ".join(values) for name, values in found.items()}


def differences(told: dict[str, Facts]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield each fact that differs between the runs, with the labels of the runs that have each value."""
    names = dict.fromkeys(name for each in told.values() for name in each)
    for name in names:
        values: dict[str, list[str]] = {}
        for label, each in told.items():
            values.setdefault(each.get(name, "none"), []).append(label)
        if len(values) > 1:
            yield name, values
