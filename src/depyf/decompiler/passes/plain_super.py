"""`super()` whose attributes are loaded as in a module that names `super` itself.

Before: def f(self): super().g()                    of LOAD_GLOBAL super; CALL; LOAD_METHOD g
After:  def f(self): global super; super().g()

Compilers that load an attribute of `super()` in one operation do so only if the module nowhere names `super`. A
decompiled function has no such module around it, so a declaration names `super` in it.
"""

from __future__ import annotations

import ast

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.bytecode.listing import Instruction
from depyf.bytecode.normalise import normalise
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.passes.body import Body
from depyf.decompiler.passes.conditions import is_kept
from depyf.decompiler.passes.registry import Stage, registers
from depyf.decompiler.steps import step

SUPER = "super"
ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
IN_ONE = "LOAD_SUPER_ATTR"


@registers(
    "super",
    Stage.WHOLE,
    "declare `global super` if its attributes are loaded in steps",
    takes=("body",),
    applies=is_kept,
    after={"declarations": "it adds to the declarations"},
)
def declare_super(body: Body) -> None:
    """Declare `super` in a function that, itself or in nested code, loads attributes of `super()` in several steps."""
    code = body.code
    if not code.flags & CO_OPTIMIZED or code.name == "<lambda>":
        return
    if IN_ONE not in facts_of(code.version, str(code)).table.opcodes.values():
        return
    if any(loads_in_steps(normalise(nested).instructions) for nested in naming_super(code)):
        step("declare `super`, because its attributes are loaded in steps")
        declare_global(body.stmts)


def declare_global(stmts: list[ast.stmt]) -> None:
    """Add `super` to the first declaration, or to a new one."""
    match stmts:
        case [ast.Global() as first, *_]:
            first.names = sorted({*first.names, SUPER})
        case _:
            stmts.insert(0, ast.Global(names=[SUPER]))


def naming_super(code: Code) -> list[Code]:
    """Return the codes, nested ones included, that name `super`."""
    codes: list[Code] = []
    pending = [code]
    while pending:
        current = pending.pop()
        pending.extend(const for const in current.consts if isinstance(const, Code))
        if SUPER in current.names:
            codes.append(current)
    return codes


def loads_in_steps(items: list[Instruction]) -> bool:
    """Return whether an attribute is loaded from the result of a call of the global `super`."""
    return any(
        item.op == "LOAD_GLOBAL" and item.arg == SUPER and is_attribute_of_call(items, index)
        for index, item in enumerate(items)
    )


def is_attribute_of_call(items: list[Instruction], index: int) -> bool:
    """Return whether the value that `index` loads is called with no or two arguments, and its attribute is loaded."""
    height = 1
    for place in range(index + 1, len(items) - 1):
        item = items[place]
        operation = OPERATIONS[item.op]
        if item.target >= 0 or not operation.falls:
            return False
        pops, pushes = operation.effect(item.arg)
        if pops >= height:
            match item.op, item.arg:
                case "CALL", (0 | 2, *_):
                    return items[place + 1].op in ATTRIBUTES and items[place + 1].arg != "__class__"
            return False
        height += pushes - pops
    return False
