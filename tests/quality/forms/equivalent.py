"""Changed rules that give the same: those that only save time, each with its reason in `equivalent.txt`.

    ## lift/fold: _kept, without not entry.shared
    Nobody refers to a value that is not shared: a copy of it serves as well.

No test can catch them. The measure counts them apart, and says where one is caught all the same.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from tests.quality.forms.mutants import Mutant, mutants

FILE = Path(__file__).with_suffix(".txt")
HEAD = re.compile(r"^## (?P<module>\S+): (?P<what>.*)\n(?P<reason>(?:[^#\n].*\n)+)", re.MULTILINE)


@functools.cache
def reasons() -> dict[tuple[str, str], str]:
    """Return why a change gives the same, by module and change."""
    return {(match["module"], match["what"]): match["reason"] for match in HEAD.finditer(FILE.read_text("utf-8"))}


def parted(module: str) -> tuple[list[Mutant], list[Mutant]]:
    """Return the changed rules of a module that a test can catch, and those that give the same."""
    every = mutants(module)
    same = [mutant for mutant in every if (module, str(mutant)) in reasons()]
    return [mutant for mutant in every if mutant not in same], same
