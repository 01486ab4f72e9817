"""Programs are such that the interpreter survives them: what they were before these rules crashed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters

ROOT = Path(__file__).parents[2]
VERSIONS = ((3, 10), (3, 11), (3, 12), (3, 13), (3, 14))
SCRIPT = """
import sys
sys.path[:0] = sys.argv[1:3]
from tests.fuzz.found import block, branch, load, op, region, to, CALL_G, RETURN
from tests.quality.fuzz import check
from tests.quality.fuzz.lower import lower, running
from tests.quality.fuzz.program import Exit, Program

fuel_beside_method = (
    [
        block("", CALL_G, RETURN, 0),
        block("e", [op("PUSH_EXC_INFO")], to(2)),
        block("p e", [load(), op("LOAD_METHOD", "m")], to(3), 1),
        block("p e m s", [], to(3), 1, fuel=True),
        block("p e", [op("RESTORE", 2)], Exit("reraise")),
    ],
    [region(1), region(4, "p")],
)
call_first_in_region = (
    [
        block("", [load(), op("LOAD_METHOD", "method")], to(1)),
        block("m s", [load(), op("POP")], to(2), 1),
        block("m s", [op("CALL", (0, "above" if sys.version_info >= (3, 13) else "below"))], RETURN, 0),
        block("e", [op("PUSH_EXC_INFO")], to(4)),
        block("p e", [op("POP"), op("POP_EXCEPT"), load()], RETURN),
        block("m e", [op("CONST", "caught by what protects the code before the call")], RETURN),
    ],
    [region(3), region(5, "m")],
)
check.RUNS = tuple((seed, 0.5, 3) for seed in range(20))
for blocks, regions in (fuel_beside_method, call_first_in_region):
    code = lower(Program(running(), blocks, regions, list(range(len(blocks)))))
    for number in range(len(check.RUNS)):
        for entry in check.observe(code, number, code):
            assert "caught by" not in repr(entry), entry
print("the interpreter lives")
"""


@pytest.mark.parametrize("version", VERSIONS, ids=interpreters.label)
def test_programs_that_crashed_the_interpreter(version: tuple[int, int]) -> None:
    python = interpreters.need(version)
    assert interpreters.run(python, SCRIPT, str(ROOT / "src"), str(ROOT)) == "the interpreter lives\n"


CLOSE = """
import sys
sys.path[:0] = sys.argv[1:3]
import types
from tests.quality.fuzz.drive import close


def stubborn():
    for _ in range(3):
        try:
            yield
        except GeneratorExit:
            pass


log = []
made = stubborn()
next(made)
close(made, log)
print(len(log), log[-1], made.gi_frame)
"""


def test_a_generator_is_closed_until_it_is() -> None:
    python = interpreters.need((3, 11))
    assert interpreters.run(python, CLOSE, str(ROOT / "src"), str(ROOT)) == "3 closed None\n"
