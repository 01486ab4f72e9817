"""`super()` in functions of modules that name `super`, decompiled one by one."""

from __future__ import annotations

import pytest

from depyf.bytecode.code import Code
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.emit.statements import write
from depyf.decompiler.passes.definitions import define
from depyf.decompiler.pipeline.run import decompile
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests import interpreters
from tests.bytecode.listings import compiled

IN_ONE = [version for version in interpreters.VERSIONS if version >= (3, 12)]
in_one = pytest.mark.parametrize("version", IN_ONE, ids=interpreters.label)
every_version = pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)

CLOSURE = "def outer(__class__, other):\n    {}"
"""What has `__class__` for the function, as a class would."""

LOADED = {
    "attribute": "def f(self):\n        return super().x",
    "method": "def f(self):\n        super().x(1)",
    "arguments": "def f(self):\n        return super(other, self).x, __class__",
    "inside": "def f(self):\n        def g():\n            return super(other, self).x\n        return g, __class__",
    "declared": "def f(self):\n        global Y\n        Y = super().x",
}
NOT_LOADED = {
    "class": "def f(self):\n        return super().__class__",
    "value": "def f(self):\n        return str(super).x, __class__",
    "kept": "def f(self):\n        s = super()\n        return s.x",
    "keywords": "def f(self):\n        return super(**self).x",
}


def function_of(module: Code) -> Code:
    """Return the code of the innermost `f` of a module that has it two levels down."""
    code = module
    for name in ("outer", "f"):
        code = next(const for const in code.consts if isinstance(const, Code) and const.name == name)
    return code


def alone(source: str, version: tuple[int, int]) -> str:
    """Return the text of `f` decompiled alone; fail unless it compiles to the same again."""
    original = function_of(compiled(source, version))
    body, names = decompile(original)
    text = write([define(body, names)[0]], Grammar.of(original))
    again = function_of(compiled(CLOSURE.format(text.replace("\n", "\n    ")), version))
    verdict = verify(original, again)
    assert verdict.level is Level.EXACT, f"{verdict.reason}\n{text}"
    return text


@every_version
@pytest.mark.parametrize("function", [*LOADED.values(), *NOT_LOADED.values()], ids=[*LOADED, *NOT_LOADED])
def test_nothing_is_declared_where_the_module_does_not_name_super(function: str, version: tuple[int, int]) -> None:
    declarations = [line for line in alone(CLOSURE.format(function), version).splitlines() if "global" in line]
    assert "super" not in "".join(declarations)


@every_version
@pytest.mark.parametrize("function", NOT_LOADED.values(), ids=NOT_LOADED)
def test_nothing_is_declared_where_no_attribute_is_loaded(function: str, version: tuple[int, int]) -> None:
    assert "global" not in alone(f"named = super\n{CLOSURE.format(function)}", version)


@in_one
@pytest.mark.parametrize("function", LOADED.values(), ids=LOADED)
def test_super_is_declared_where_its_attributes_are_loaded_in_steps(function: str, version: tuple[int, int]) -> None:
    text = alone(f"named = super\n{CLOSURE.format(function)}", version)
    assert "global super" in text or "global Y, super" in text


@in_one
def test_a_lambda_declares_nothing(version: tuple[int, int]) -> None:
    module = compiled("named = super\nf = lambda self: super().x", version)
    body, _ = decompile(next(const for const in module.consts if isinstance(const, Code)))
    assert write(body.stmts, Grammar.of(body.code)) == "return super().x\n"
