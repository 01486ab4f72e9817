"""The processes of a run side by side: their numbers, and the facts in which they differ."""

from __future__ import annotations

from collections.abc import Sequence

from depyf.bytecode.records import dataclass
from depyf.views.facts import differences, facts
from depyf.views.html.process import Process


@dataclass(frozen=True, slots=True)
class Apart:
    """A fact that differs between processes, with its value in each."""

    fact: str
    values: dict[str, str]


def apart(processes: Sequence[Process]) -> list[Apart]:
    """Return the facts in which the processes of a run differ."""
    labels = [process.label for process in processes]
    facts_by_label = {
        process.label: facts(process.run.session)
        for process in processes
    }
    return [
        Apart(fact, {label: value for value, those in values.items() for label in labels if label in those})
        for fact, values in differences(facts_by_label)
    ]
