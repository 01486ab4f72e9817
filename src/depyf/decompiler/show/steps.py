"""Recorders of a decompilation: what each code object looked like after one pass, or after each."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from depyf.decompiler.pipeline.work import Work
from depyf.decompiler.show.forms import text_after
from depyf.decompiler.steps import Stopped


@dataclass(slots=True)
class Snapshot:
    """A code object as a pass left it; `why` says why there is no text."""

    code: str
    text: str = ""
    why: str = "the pass had nothing to do"


class After:
    """Records each code object as one pass leaves it, and stops the work on it there."""

    def __init__(self, passes: tuple[str, ...]) -> None:
        self.passes = passes
        self.found: list[Snapshot] = []
        self.works: set[int] = set()

    def begin(self, work: Work) -> None:
        """Begin the record of a code object."""
        self.found.append(Snapshot(str(work.code)))
        self.works = {id(work)}

    def attempt(self, work: Work, why: str) -> None:
        """Note why the pass may never come."""
        self.found[-1].why = why

    def step(self, message: str) -> None:
        """Pass over a step."""

    def after(self, name: str, work: Work) -> None:
        """Record the code object if that was the pass, and stop."""
        if name in self.passes and id(work) in self.works:
            self.found[-1].text = text_after(name, work)
            raise Stopped


@dataclass(slots=True)
class Step:
    """What one pass did to a code object: the rewrites that it announced, and what the whole looked like after it."""

    code: str
    name: str
    announced: list[str]
    text: str
    before: str = ""
    stopped: bool = False

    @property
    def changed(self) -> bool:
        """Whether the pass changed the text or announced something."""
        return bool(self.announced) or self.text != self.before


@dataclass
class Steps:
    """Records what every pass does to every code object.

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
        """Record a rewrite that is about to be made."""
        self.count += 1
        if self.limit and self.count >= self.limit:
            self.found.append(Step(self.code, "stopped before", [f"{self.count}. {message}"], "", "", stopped=True))
            raise Stopped
        self.announced.append(f"{self.count}. {message}")

    def after(self, name: str, work: Work) -> None:
        """Record what a pass has done."""
        text = text_after(name, work)
        before = self.texts.get(id(work), "")
        self.texts[id(work)] = text
        self.found.append(Step(str(work.code), name, self.announced, text, before))
        self.announced = []


def difference(step: Step) -> list[str]:
    """Return the lines that a pass took out (`-`) and put in (`+`), with some around them."""
    if not step.before:
        return [f"  {line}" for line in step.text.splitlines()]
    lines = difflib.unified_diff(step.before.splitlines(), step.text.splitlines(), lineterm="", n=2)
    return [line if line[:1] in "+-" else f" {line}" for line in lines if not line.startswith(("---", "+++"))]
