"""The data files of the decompiler's modules: small functions, and what one pass makes of each.

    ## exits (3.8): what the case is for
    def f(a): ...
    ---
    the form that the pass gives, or how it changes the form

A file is named after the module that it tests. Its cases run in the order in which they stand.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from depyf.bytecode.code import Code, Version
from tests.quality.forms.around import UNCHANGED, shown

ROOT = Path(__file__).resolve().parents[3]
DECOMPILER = ROOT / "src/depyf/decompiler"
PACKAGES = ("structure", "lift", "passes")
FOLDER = ROOT / "tests/decompiler/forms"
MOST_LINES = 490
"""Lines of a data file."""
HEAD = re.compile(r"(?P<name>\S+) \((?P<version>\d+\.\d+)\): (?P<title>.*)")
Compile = Callable[[str, Version], Code]


@dataclass(frozen=True)
class Case:
    """What one pass makes of one source, as one version of Python compiles it."""

    name: str
    version: Version
    title: str
    source: str
    expected: str

    def __str__(self) -> str:
        """Return the case as it stands in a file."""
        version = "{}.{}".format(*self.version)
        return f"## {self.name} ({version}): {self.title}\n{self.source}---\n{self.expected}"

    @property
    def is_near_miss(self) -> bool:
        """Whether the pass leaves all as it is."""
        return self.expected.replace("\n", "").replace(UNCHANGED, "") == ""

    def given(self, compiled: Compile) -> str:
        """Return what the pass makes of the source now."""
        return shown(compiled(self.source, self.version), self.name)


def modules() -> list[str]:
    """Return the modules that need tests of their own, as `structure/regions/names`."""
    paths = [path for package in PACKAGES for path in (DECOMPILER / package).rglob("*.py")]
    return sorted(str(path.relative_to(DECOMPILER).with_suffix("")) for path in paths if path.name != "__init__.py")


def file_of(module: str, number: int = 1) -> Path:
    """Return a data file of a module; the first is named after it alone."""
    return FOLDER / (f"{module}.txt" if number == 1 else f"{module}.{number}.txt")


def files_of(module: str) -> list[Path]:
    """Return the data files of a module that are there."""
    return list(itertools.takewhile(Path.exists, (file_of(module, number) for number in itertools.count(1))))


def cases(module: str) -> list[Case]:
    """Return the cases of a module; none where it has no data file."""
    return [case for path in files_of(module) for case in parsed(path.read_text(encoding="utf-8"))]


def parsed(text: str) -> list[Case]:
    """Return the cases that stand in a text."""
    read_cases = []
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        head = HEAD.fullmatch(title)
        assert head is not None, title
        source, _, expected = rest.partition("---\n")
        major, minor = map(int, head["version"].split("."))
        read_cases.append(Case(head["name"], (major, minor), head["title"], source, expected.strip("\n") + "\n"))
    return read_cases


def write(module: str, read_cases: list[Case]) -> None:
    """Write the data files of a module, each no longer than a file may be."""
    texts: list[str] = []
    for case in read_cases:
        if texts and (texts[-1] + str(case)).count("\n") < MOST_LINES:
            texts[-1] += f"\n{case}"
        else:
            texts.append(str(case))
    for path in files_of(module)[len(texts) :]:
        path.unlink()
    for number, text in enumerate(texts, 1):
        path = file_of(module, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
