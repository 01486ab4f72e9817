"""Recorders of a decompilation: the form of each code object after one pass, or after each."""

from __future__ import annotations

import difflib
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.decompiler.pipeline.work import Work
from depyf.decompiler.show.forms import text_after
from depyf.decompiler.steps import Stopped


@dataclass(slots=True)
class Snapshot:
    """A code object after a pass; `why` says why there is no text."""

    code: str
    text: str = ""
    why: str = "the pass had nothing to do"


class After:
    """Records each code object after one pass, and stops its decompilation there."""

    def __init__(self, passes: tuple[str, ...]) -> None:
        self.passes = passes
        self.found: list[Snapshot] = []
        self.works: set[int] = set()

    def begin(self, work: Work) -> None:
        """Begin the record of a code object."""
        self.found.append(Snapshot(str(work.code)))
        self.works = {id(work)}

    def attempt(self, work: Work, why: str) -> None:
        """Record why the pass may never run."""
        self.found[-1].why = why

    def step(self, message: str) -> None:
        """Ignore a step."""

    def after(self, name: str, work: Work) -> None:
        """Record the code object if this was the pass, and stop."""
        if name in self.passes and id(work) in self.works:
            self.found[-1].text = text_after(name, work)
            raise Stopped


@dataclass(slots=True)
class Step:
    """The effect of one pass on a code object: the announced rewrites, and the form after it."""

    code: str
    name: str
    announced: list[str]
    text: str
    before: str = ""
    stopped: bool = False

    @property
    def changed(self) -> bool:
        """Whether the pass changed the text or announced a rewrite."""
        return bool(self.announced) or self.text != self.before


@dataclass
class Steps:
    """Records the effect of every pass on every code object.

    limit: the number of the rewrite before which the work is stopped, counted from 1; 0: never.
    """

    limit: int = 0
    found: list[Step] = field(default_factory=list)
    announced: list[str] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)
    count: int = 0
    code: str = ""

    def begin(self, work: Work) -> None:
        """Begin the record of a code object."""
        self.code = str(work.code)
        self.announced, self.texts = [], {}

    def attempt(self, work: Work, why: str) -> None:
        """Record that the code object is begun again."""
        self.texts = {}
        self.found.append(Step(str(work.code), "again, in another way", [*self.announced, why], "", ""))
        self.announced = []

    def step(self, message: str) -> None:
        """Record a rewrite before it is made."""
        self.count += 1
        if self.limit and self.count >= self.limit:
            self.found.append(Step(self.code, "stopped before", [f"{self.count}. {message}"], "", "", stopped=True))
            raise Stopped
        self.announced.append(f"{self.count}. {message}")

    def after(self, name: str, work: Work) -> None:
        """Record the effect of a pass."""
        text = text_after(name, work)
        before = self.texts.get(id(work), "")
        self.texts[id(work)] = text
        self.found.append(Step(str(work.code), name, self.announced, text, before))
        self.announced = []


def difference(step: Step) -> list[str]:
    """Return the lines that a pass removed (`-`) and added (`+`), with some context."""
    if not step.before:
        return [f"  {line}" for line in step.text.splitlines()]
    lines = difflib.unified_diff(step.before.splitlines(), step.text.splitlines(), lineterm="", n=2)
    return [line if line[:1] in "+-" else f" {line}" for line in lines if not line.startswith(("---", "+++"))]
