"""Programs that the decompiler got wrong once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters

ROOT = Path(__file__).parents[2]
VERSIONS = ((3, 10), (3, 11), (3, 12), (3, 13), (3, 14))
SCRIPT = """
import sys
sys.path[:0] = sys.argv[1:3]
from depyf.verify.level import Level
from tests.fuzz.found import PROGRAMS, program
from tests.quality.fuzz.check import check
from tests.quality.fuzz.lower import lower

for name in PROGRAMS:
    if name == "a test that is returned" and sys.version_info >= (3, 12):
        continue  # There is no such jump.
    found = check(lower(program(name)))
    assert not found.faults, (name, found.faults)
    assert found.kind == "same" and found.level >= Level.EQUIVALENT, (name, found.reason, found.source)
print("all are the same")
"""


@pytest.mark.parametrize("version", VERSIONS, ids=interpreters.label)
def test_programs_that_were_wrong_are_proven(version: tuple[int, int]) -> None:
    python = interpreters.need(version)
    assert interpreters.run(python, SCRIPT, str(ROOT / "src"), str(ROOT)) == "all are the same\n"


NAMES = """
import sys, types
sys.path[:0] = sys.argv[1:3]
from depyf.bytecode.reader import read
from depyf.verify.compare import verify
from depyf.verify.level import Level


def made(a):
    return [lambda: a]


code = made.__code__
consts = tuple("made.<locals>.other" if const == "made.<locals>.<lambda>" else const for const in code.co_consts)
assert consts != code.co_consts
assert verify(read(code), read(code.replace(co_consts=consts))).level is Level.UNPROVEN
print("a difference is seen")
"""


def test_functions_of_other_names_are_not_the_same() -> None:
    python = interpreters.need((3, 10))
    assert interpreters.run(python, NAMES, str(ROOT / "src"), str(ROOT)) == "a difference is seen\n"
