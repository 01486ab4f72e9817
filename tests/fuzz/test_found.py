"""Programs that the decompiler got wrong once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters

ROOT = Path(__file__).parents[2]
VERSIONS = ((3, 11), (3, 12), (3, 13), (3, 14))
SCRIPT = """
import sys
sys.path[:0] = sys.argv[1:3]
from depyf.verify.level import Level
from tests.fuzz.found import PROGRAMS, program
from tools.fuzz.check import check
from tools.fuzz.lower import lower

for name in PROGRAMS:
    found = check(lower(program(name)))
    assert found.kind == "same" and found.level >= Level.EQUIVALENT, (name, found.reason, found.source)
print("all are the same")
"""


@pytest.mark.parametrize("version", VERSIONS, ids=interpreters.label)
def test_programs_that_were_wrong_are_proven(version: tuple[int, int]) -> None:
    python = interpreters.need(version)
    assert interpreters.run(python, SCRIPT, str(ROOT / "src"), str(ROOT)) == "all are the same\n"
