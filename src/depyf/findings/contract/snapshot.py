"""A snapshot: the compiles of a test, in a readable file for comparison with later runs.

before: the facts of a run
after:
    torch 2.13

    graph forward
    graph forward (after a break)
    break forward: `if x.sum() > 0:`: Data-dependent branching
    kernel cpp_fused_add_0
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable

from depyf.bytecode.records import dataclass
from depyf.findings.contract.facts import RAISES, RUNS_EAGER, Fact

LABELS = {"graphs": "graph", "breaks": "break", "recompiles": "recompile", "eager_calls": "eager", "kernels": "kernel"}
"""The first word in the line of a fact, by its aspect, in the order of the file."""

HELD = ("graph", "break", "recompile", "eager")
"""Facts that must not become more frequent with another torch. Names of kernels and reasons belong to torch."""

HEAD = "# What {} compiles. Written by `pytest --update-compiles`."
_VERSION = re.compile(r"^torch (\S+)$", re.MULTILINE)
_RELEASE = re.compile(r"\d+\.\d+")


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences between a run and a snapshot: the lines, and whether another torch may be the only reason.

    broken: the facts that are worse than in the snapshot, in words; may be empty.
    """

    lines: tuple[str, ...]
    made_with: str
    now: str
    broken: tuple[str, ...]

    @property
    def is_of_torch(self) -> bool:
        """Return whether the snapshot was made with another release of torch and nothing is worse."""
        return self.made_with != self.now and not self.broken


def snapshot_text(name: str, torch_version: str, facts: Iterable[Fact]) -> str:
    """Return the text of a snapshot file.

    Args:
        name: the name of the test.
        torch_version: the version of torch that compiled.
        facts: the facts about the compiles.
    """
    return "\n".join([HEAD.format(name), f"torch {release(torch_version)}", "", *snapshot_lines(facts)]) + "\n"


def snapshot_lines(facts: Iterable[Fact]) -> list[str]:
    """Return a line for each fact: graphs first, then breaks, recompiles, eager frames, and kernels."""
    order = list(LABELS)
    known = [fact for fact in facts if fact.aspect in LABELS]
    return [f"{LABELS[fact.aspect]} {fact.text}" for fact in sorted(known, key=lambda fact: order.index(fact.aspect))]


def compare(text: str, torch_version: str, facts: Iterable[Fact]) -> Difference | None:
    """Return how facts differ from the text of a snapshot, or None.

    Args:
        text: the content of the snapshot file.
        torch_version: the version of torch that compiled now.
        facts: the facts about the compiles of now.
    """
    version = _VERSION.search(text)
    before = [line for line in text.splitlines() if line.partition(" ")[0] in LABELS.values()]
    after = snapshot_lines(facts)
    if before == after:
        return None
    lines = [line for line in difflib.unified_diff(before, after, lineterm="", n=0) if line[:3] not in ("---", "+++")]
    changed = tuple(line for line in lines if not line.startswith("@@"))
    return Difference(changed, version[1] if version else "?", release(torch_version), tuple(_worse(before, after)))


def release(version: str) -> str:
    """Return the release of a version of torch.

    >>> release("2.13.0+cpu")
    '2.13'
    """
    match = _RELEASE.match(version)
    return match[0] if match else version


def _worse(before: list[str], after: list[str]) -> Iterable[str]:
    """Yield the lines that occur more often. Breaks are compared by the user's line, everything else by function."""
    old, other = Counter(map(_held, before)), Counter(map(_held, after))
    for key, count in (other - old).items():
        label, subject = key
        if label in HELD:
            yield f"{count} more {label} in {subject}"


def _held(line: str) -> tuple[str, str]:
    label, _, rest = line.partition(" ")
    subject = rest.partition(":")[0]
    if label == "break":
        code = rest.split("`", 2)
        return label, f"{subject}: `{code[1]}`" if len(code) > 2 else subject
    return label, subject.removesuffix(f" {RUNS_EAGER}").removesuffix(f" {RAISES}")
