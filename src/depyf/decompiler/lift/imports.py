"""Import statements.

Before: v0 = IMPORT_NAME m; v1 = IMPORT_FROM a v0; STORE_FAST a v1; v2 = IMPORT_FROM b v0; STORE_FAST c v2; POP v0
After:  from m import a, b as c
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.bytecode.known import IMPORT
from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.definitions import NAME_STORES, consumer
from depyf.decompiler.lift.nodes import Entry, FromModule, Module, Object, Temp, Var, literal, literal_value, variable

if TYPE_CHECKING:
    from depyf.decompiler.lift.fold import Folder


DEEPEST = 1000
"""The most dots of a relative import that are written: packages do not nest deeper."""


class Import(ast.Import):
    """An import statement that records how its names are bound; `target` is a temporary that stands for one."""

    target: Temp | None = None

    def __init__(self, names: list[ast.alias], variables: list[Var], is_lazy: bool) -> None:
        super().__init__(names=names)
        self.variables = variables
        self.is_lazy = is_lazy


class ImportFrom(ast.ImportFrom):
    """A from-import that records how its names are bound."""

    def __init__(self, module: Module, names: list[ast.alias], variables: list[Var]) -> None:
        super().__init__(module=module.name or None, names=names, level=module.level)
        self.variables = variables
        self.is_lazy = module.is_lazy


def import_name(folder: Folder, inst: Inst) -> None:
    """IMPORT_NAME, IMPORT_LAZY: level and names are constants, or IMPORT is called."""
    level, names = folder.take(inst.uses).exprs
    depth, wanted = literal_value(level), literal_value(names)
    if isinstance(depth, int) and 0 <= depth <= DEEPEST and (wanted is None or isinstance(wanted, tuple)):
        module = Module(name=inst.arg, level=depth, names=wanted, is_lazy=inst.op == "IMPORT_LAZY")
        if wanted and (variables := _bound(folder, inst.defs[0], wanted)):
            folder.position += 2 * len(wanted) + 1
            aliases = [ast.alias(name, None if name == var.id else var.id) for name, var in zip(wanted, variables)]
            folder.emit(ImportFrom(module, aliases, variables), inst.line, [var.id for var in variables])
            return
        entry = folder.push(inst, module)
        if wanted is None and depth == 0:
            _name_module(folder, inst, entry, module)
        return
    args: list[ast.expr] = [literal(inst.arg), level, names]
    folder.push(inst, ast.Call(func=Object(value=IMPORT), args=args, keywords=[]))


def _bound(folder: Folder, temp: int, names: Sequence[str]) -> list[Var]:
    """Return the variables that the names of a module are bound to, if the next operations do nothing else."""
    insts = folder.insts[folder.position : folder.position + 2 * len(names) + 1]
    behind = [(inst.op, inst.uses) for inst in insts[2 * len(names) :]]
    if behind != [("POP", [temp])] or folder.uses[temp] != len(names):
        return []
    variables = []
    for name, taken, stored in zip(names, insts[::2], insts[1::2]):
        if (taken.op, taken.arg) != ("IMPORT_FROM", name) or stored.op not in NAME_STORES:
            return []
        if stored.uses != taken.defs or folder.uses[taken.defs[0]] > 1:
            return []
        variables.append(variable(stored, ast.Store()))
    return variables


def _name_module(folder: Folder, inst: Inst, entry: Entry, module: Module) -> None:
    """Assign an imported module to its temporary, unless the next operation that uses it is a part of the statement.

        import a.b
        tmp = a          (a is a variable that nothing else uses)
    """
    following = consumer(folder, entry.temp)
    first = str(inst.arg).partition(".")[0]
    if following is not None and entry.uses == 1 and following.op in NAME_STORES:
        if first in (inst.arg, following.arg) or _is_mangled(str(following.arg), first):
            return
    elif following is not None and following.op == "IMPORT_FROM":
        return
    is_dotted = first != inst.arg
    if is_dotted and _is_used(folder, first):
        return
    target = Var(id=first, ctx=ast.Store(), scope="fast") if is_dotted else Temp(temp=entry.temp)
    folder.discard(entry)
    _emit_import(folder, inst, module, None, target)
    if is_dotted and entry.uses:
        value = Var(id=first, ctx=ast.Load(), scope="fast")
        folder.append(ast.Assign(targets=[Temp(temp=entry.temp)], value=value), inst.line)


def _is_used(folder: Folder, name: str) -> bool:
    """Return whether a code object or a nested one uses a variable or global of this name."""
    code = folder.graph.code
    work = [const for const in code.consts if isinstance(const, Code)]
    while work:
        present = work.pop()
        if name in (*present.names, *present.freevars):
            return True
        work.extend(const for const in present.consts if isinstance(const, Code))
    if name in (*code.varnames, *code.cellvars, *code.freevars) or not code.flags & CO_OPTIMIZED:
        return True
    insts = (inst for block in folder.graph.live() for inst in block.insts)
    return any(inst.arg == name and inst.op.endswith("_GLOBAL") for inst in insts)


def import_from(folder: Folder, inst: Inst) -> None:
    """IMPORT_FROM: the module stays for the next name."""
    folder.combine(inst, lambda parts: FromModule(module=parts[0], name=inst.arg))


def import_star(folder: Folder, inst: Inst) -> None:
    """IMPORT_STAR."""
    (module,) = folder.take(inst.uses).exprs
    if not isinstance(module, Module):
        raise folder.error("IMPORT_STAR of something that is not an imported module", inst)
    names = [ast.alias(name="*", asname=None)]
    folder.emit(ImportFrom(module, names, []), inst.line)


def store_import(folder: Folder, inst: Inst, entry: Entry, target: Var) -> bool:
    """Bind an imported module or name to a variable.

    Args:
        folder: the state of the block.
        inst: the operation that stores.
        entry: the value to store.
        target: the variable.

    Returns:
        whether the value is an import that could be bound.
    """
    expr = entry.expr
    if entry is not folder.pending[-1] or entry.uses != 1 or entry.targets or entry.shared:
        return False
    if isinstance(expr, Module) and expr.names is None and expr.level == 0:
        first = expr.name.partition(".")[0]
        if expr.name != first and target.id != first and not _is_mangled(target.id, first):
            return False
        folder.discard(entry)
        is_plain = target.id == first or expr.name != first
        _emit_import(folder, inst, expr, None if is_plain else target.id, target)
        return True
    return _bind(folder, inst, entry, expr, target)


def _is_mangled(target: str, name: str) -> bool:
    """Return whether the compiler stores a name under `target` inside some class.

    Only the first name of a path is mangled.
    """
    private = name.startswith("__") and not name.endswith("__")
    return private and re.fullmatch(r"_[^_]\w*" + re.escape(name), target) is not None


def _bind(folder: Folder, inst: Inst, entry: Entry, value: ast.expr, target: Var) -> bool:
    """Bind the value of `import a.b as c`: the attribute `b` of `a`."""
    path: list[str] = []
    while isinstance(value, FromModule):
        path.append(value.name)
        value = value.module
    if not isinstance(value, Module) or value.names is not None or value.level:
        return False
    if ".".join([value.name.partition(".")[0], *path[::-1]]) != value.name:
        return False
    folder.discard(entry)
    _emit_import(folder, inst, value, target.id, target)
    return True


def _emit_import(folder: Folder, inst: Inst, module: Module, asname: str | None, target: Var | Temp) -> None:
    names = [ast.alias(name=module.name, asname=asname)]
    stmt = Import(names, [target] if isinstance(target, Var) else [], module.is_lazy)
    stmt.target = target if isinstance(target, Temp) else None
    folder.emit(stmt, inst.line, [target.id] if isinstance(target, Var) else [])
