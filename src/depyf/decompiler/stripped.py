"""Names by use for the variables of stripped code.

Before: _0x2 = []; for _0x3 in _0x1: with open(_0x3) as _0x4: _0x5 = load(_0x4)
After:  items = []; for value in _0x1: with open(value) as file: loaded = load(file)

Obfuscators replace the names of variables. The name of a local variable that no closure shares, and that is no
parameter, does not affect what a function does, unless the function looks at its own names. So such a variable gets
a name by its use, and the text is proven against the code with these names. All other names stay, except parameters
whose names are no identifiers or occur twice: no caller can use them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.decompiler.lift.writable import is_writable
from depyf.decompiler.module import module_source

STRIPPED = re.compile(r"_*0[xX][0-9a-fA-F]+|[Il1O0_]{3,}|_+\d+|__?[A-Za-z]?\d+_*|[a-zA-Z]\d*|")
"""Names as obfuscators and minifiers write them."""
OWN_NAMES = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "globals"})
"""Names of functions that may show a function the names of its variables."""
DEFAULT, ARGUMENT = "value", "argument"
OF_CALLS = {
    "open": "file",
    "len": "count",
    "range": "numbers",
    "enumerate": "pairs",
    "sorted": "ordered",
    "sum": "total",
    "load": "loaded",
    "loads": "loaded",
    "read": "content",
    "split": "parts",
    "join": "text",
    "format": "text",
    "strip": "text",
    "get": "entry",
    "pop": "item",
    "append": DEFAULT,
}
OF_DISPLAYS: dict[type[ast.expr], str] = {
    ast.List: "items",
    ast.ListComp: "items",
    ast.Dict: "mapping",
    ast.DictComp: "mapping",
    ast.Set: "members",
    ast.SetComp: "members",
    ast.JoinedStr: "text",
    ast.Compare: "is_so",
    ast.Lambda: "function",
}


def named_by_use(code: Code) -> tuple[Code, dict[str, str]]:
    """Return a module's code whose stripped variables have names by their use, and the old names of these.

    Args:
        code: the code of a module.

    Returns:
        The code, and by `function.name` with the new name the old one; both as they were if nothing is stripped, or if
        this Python cannot parse the text.

    Raises:
        DecompilationError: the code cannot be decompiled.
    """
    unique: dict[str, tuple[str, str]] = {}

    def numbered(inner: Code, name: str) -> str:
        wish = f"depyf_variable_{len(unique)}"
        unique[wish] = inner.qualname, name
        return wish

    marked = renamed(code, numbered)
    if not unique:
        return code, {}
    try:
        tree = ast.parse(module_source(marked))
    except SyntaxError:
        return code, {}
    wishes = dict(_wishes(tree))
    taken: dict[int, set[str]] = {}
    old: dict[str, str] = {}

    def chosen(inner: Code, name: str) -> str:
        names = taken.setdefault(id(inner), _names_in(inner))
        wish = wishes.get(name, ARGUMENT if name in inner.parameters else DEFAULT)
        number, new = 1, wish
        while new in names or not is_writable(new):
            number += 1
            new = f"{wish}_{number}"
        names.add(new)
        old[f"{inner.qualname}.{new}"] = unique[name][1]
        return new

    return renamed(marked, chosen, lambda name: name in unique), old


def renamed(
    code: Code, name_of: Callable[[Code, str], str], wanted: Callable[[str], bool] | None = None
) -> Code:
    """Return a code object in which local variables have other names, also in nested ones.

    Args:
        code: the code object.
        name_of: returns the new name of a variable of a code object.
        wanted: whether a variable with this name is renamed; by default one with a stripped name.
    """
    is_wanted = is_stripped if wanted is None else wanted
    order = [code]
    for inner in order:  # The list grows during the iteration.
        order += [const for const in inner.consts if isinstance(const, Code)]
    done: dict[int, Code] = {}
    for inner in reversed(order):
        if id(inner) in done:
            continue
        names = list(inner.varnames)
        count = len(inner.parameters)
        for place, name in enumerate(names if _may_be_renamed(inner) else ()):
            # Callers may use a parameter's name, unless it is none or that of an earlier parameter.
            is_lost = not is_writable(name) or name in names[:place]
            is_open = is_lost if place < count and wanted is None else is_wanted(name)
            if name not in inner.cellvars and is_open:
                names[place] = name_of(inner, name)
        consts = tuple(done[id(const)] if isinstance(const, Code) else const for const in inner.consts)
        done[id(inner)] = replace(inner, varnames=tuple(names), consts=consts)
    return done[id(code)]


def is_stripped(name: str) -> bool:
    """Return whether a name looks as an obfuscator writes it, or is no identifier."""
    return STRIPPED.fullmatch(name) is not None or not is_writable(name)


def _may_be_renamed(code: Code) -> bool:
    """Return whether the names of a code object's variables do not affect it: a function that does not ask for them."""
    is_function = bool(code.flags & CO_OPTIMIZED) and not code.name.startswith("<")
    return is_function and OWN_NAMES.isdisjoint(code.names)


def _names_in(code: Code) -> set[str]:
    """Return the names that a code object and its nested ones use: a new name hides none of them."""
    names: set[str] = set()
    work = [code]
    for inner in work:  # The list grows during the iteration.
        names.update(inner.names, inner.varnames, inner.cellvars, inner.freevars)
        work += [const for const in inner.consts if isinstance(const, Code)]
    return names


def _wishes(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield variables with a name for their use, the last use first: an earlier row of a variable counts more."""
    uses: list[tuple[str, str]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                uses.append((name, _of_value(value)))
            case ast.withitem(context_expr=value, optional_vars=ast.Name(id=name)):
                uses.append((name, _of_value(value)))
            case ast.ExceptHandler(name=str() as name):
                uses.append((name, "error"))
            case ast.For(target=target, iter=values) | ast.comprehension(target=target, iter=values):
                uses += _of_items(target, values)
            case ast.Assign(targets=[ast.Attribute(attr=attr)], value=ast.Name(id=name)):
                uses.append((name, attr.strip("_") or DEFAULT))
    yield from reversed(uses)


def _of_items(target: ast.expr, values: ast.expr) -> list[tuple[str, str]]:
    """Return names for the target of a loop."""
    callee = _callee(values)
    match target:
        case ast.Name(id=name):
            return [(name, "index" if callee == "range" else "item")]
        case ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]) if callee == "enumerate":
            return [(first, "index"), (second, "item")]
        case ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]) if callee == "items":
            return [(first, "key"), (second, "value")]
    return []


def _of_value(value: ast.expr) -> str:
    """Return a name for a value."""
    callee = _callee(value)
    if callee:
        name = OF_CALLS.get(callee, re.sub(r"^(get|make|create|load|read)_?(?=.)", "", callee))
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip("_")).lower() or DEFAULT
    if isinstance(value, ast.Attribute):
        return value.attr.strip("_").lower() or DEFAULT
    return OF_DISPLAYS.get(type(value), DEFAULT)


def _callee(value: ast.expr) -> str:
    """Return the last name of the function that a call calls, or an empty text."""
    match value:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def header(old: dict[str, str]) -> str:
    """Return the comment that says which names depyf has chosen."""
    rows = [f"#   {new}: {ascii(name)}\n" for new, name in sorted(old.items())]
    return f"# depyf chose names by use for {len(old)} variables. Their names in the bytecode are:\n{''.join(rows)}"


def decompilable(code: Code) -> tuple[Code, str]:
    """Return a module's code with names by use, and the comment for the head of its text.

    Raises:
        DecompilationError: the code cannot be decompiled.
    """
    named, old = named_by_use(code)
    return (named, header(old)) if old else (code, "")
