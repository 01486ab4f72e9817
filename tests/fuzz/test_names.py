"""Names that are no identifiers and constants without a literal, on every version that depyf runs on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interpreters

ROOT = Path(__file__).parents[2]
VERSIONS = ((3, 10), (3, 11), (3, 12), (3, 13), (3, 14))

SCRIPT = """
import sys, types
sys.path[:0] = sys.argv[1:3]
from depyf.api import decompile_code
from depyf.verify.level import Level
from tests.quality.fuzz.check import recompiled


def many(a, b, c, *, d=1, **e):
    x = [a, b]
    x.append(c)
    return x, d, e


def holder(a):
    return a, 12345


def closed(a):
    def inner(b, c=2):
        nonlocal a
        a = b
        return a, c
    return inner, a


class Odd:
    def __eq__(self, other):
        raise RuntimeError
    __hash__ = object.__hash__


def proven(code):
    made = decompile_code(code)
    assert made.level >= Level.EQUIVALENT, (made.reason, made.source)
    new = recompiled(code, made)
    for field in "co_argcount co_kwonlyargcount co_posonlyargcount co_cellvars co_freevars co_name".split():
        assert getattr(new, field) == getattr(code, field), field
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 8)
    assert new.co_varnames[:count] == code.co_varnames[:count]
    assert new.co_flags & 0xFF == code.co_flags & 0xFF
    return new, made


ODD = (".0", "L['x']", "class", "__private", chr(0xFB01) + "x", "0f-4c_uuid")
for last in (*ODD, "torch_dynamo_resume_in_f_at_8", chr(0xD800), "print"):
    names = {"a": ODD[0], "b": ODD[1], "c": ODD[2], "x": last} if last not in ODD[:3] else {"a": last}
    code = many.__code__
    code = code.replace(co_varnames=tuple(names.get(name, name) for name in code.co_varnames))
    new, made = proven(code)
    run = [types.FunctionType(one, {}, "f", None, None)(1, 2, 3, d=4, z=5) for one in (code, new)]
    assert run[0] == run[1] == ([1, 2, 3], 4, {"z": 5}), run

for value in (object(), Odd(), vars(types), many.__code__, types, print, (1, Odd())):
    code = holder.__code__.replace(
        co_consts=tuple(value if const == 12345 else const for const in holder.__code__.co_consts)
    )
    new, made = proven(code)
    assert types.FunctionType(new, {})(1)[1] is value, made.source

for name in ("torch_dynamo_resume_in_f_at_8", "f<1>", "a b", "class", "__init"):
    proven(many.__code__.replace(co_name=name))
new, made = proven(closed.__code__)
inner, first = types.FunctionType(new, {})(7)
assert (inner(8), inner.__defaults__, inner.__closure__[0].cell_contents, first) == ((8, 2), (2,), 8, 7)
print("all are the same")
"""


@pytest.mark.parametrize("version", VERSIONS, ids=interpreters.label)
def test_odd_names_and_constants_come_back(version: tuple[int, int]) -> None:
    python = interpreters.need(version)
    assert interpreters.run(python, SCRIPT, str(ROOT / "src"), str(ROOT)) == "all are the same\n"
