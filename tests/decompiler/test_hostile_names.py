"""Names that are no identifiers, as programs may write them into bytecode, never become text of their own."""

from __future__ import annotations

import ast
import re
import types

import pytest

from depyf.bytecode.reader import read
from depyf.decompiler.module import judge, module_source
from depyf.verify.level import Level

SOURCE = """
import aaa.bbb as ccc, ddd
from eee import fff as ggg
from hhh.iii import *
class jjj(kkk, lll=mmm):
    def ppp(self, qqq, *rrr, sss=ttt, **uuu):
        global vvv
        vvv = self.www
        self.xxx = yyy(zzz=1)
        try:
            aab
        except aac as aad:
            pass
        with aae as aaf:
            pass
        match aag:
            case aah.aai(aaj=1, aak=aal):
                pass
            case {'a': 1, **aam}:
                pass
            case [*aan]:
                pass
        def aao():
            nonlocal qqq
            qqq = 1
        return lambda aap: [aaq for aaq in aar if aap]
"""
NAMES = sorted(set(re.findall(r"\b[a-z]{3}\b", SOURCE)) - {"def", "try", "for"})
FREE_LINES = "a\nimport os\n#"


def renamed(value: object, old: str, new: str) -> object:
    """Return a constant or code object with another name in the place of one, nested ones included."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, tuple):
        return tuple(renamed(item, old, new) for item in value)
    if not isinstance(value, types.CodeType):
        return value
    fields = {name: renamed(getattr(value, name), old, new) for name in FIELDS}
    return value.replace(**fields)  # type: ignore[arg-type]  # each field keeps its type


FIELDS = ("co_names", "co_varnames", "co_cellvars", "co_freevars", "co_name", "co_consts")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [FREE_LINES, "class", "x y"])
def test_a_name_is_no_text(name: str, bad: str) -> None:
    code = renamed(compile(SOURCE, "<test>", "exec"), name, bad)
    assert isinstance(code, types.CodeType)
    text = module_source(read(code))
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
    assert "os" not in {alias.name for node in imports for alias in node.names}


def test_what_cannot_be_imported_by_a_statement_is_imported_by_a_call() -> None:
    code = compile("from a import b", "<test>", "exec")
    consts = tuple((FREE_LINES,) if const == ("b",) else const for const in code.co_consts)
    original = read(code.replace(co_consts=consts))
    source = module_source(original)
    assert f"object_import('a', 0, ({FREE_LINES!r},))" in source
    assert judge(original, source).level is Level.EQUIVALENT
