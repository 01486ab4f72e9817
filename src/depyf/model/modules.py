"""The modules that compiled functions pass through, as far as their guards name them.

before: a guard `type(L["self"].__dict__["_modules"]["blocks"].__dict__["_modules"]["0"]) is Block`
after: `blocks.0` is a `Block`, below the module of `self`
"""

from __future__ import annotations

import re
from dataclasses import replace

from depyf.bytecode.records import dataclass
from depyf.model.run import Compile, Function, GuardSet

_TYPE = re.compile(r"type\((?P<path>L\[\"self\"\].*)\) is (?P<type>[\w.]+)$")
_STEP = re.compile(r"(?:\.__dict__)?(?:\.|\[\")_modules(?:\"\])?\[\"(?P<name>[^\"]+)\"\]")
_SELF = 'L["self"]'


@dataclass(frozen=True, slots=True)
class Module:
    """A module below a function's `self`: its path ("" for `self`) and the name of its class."""

    path: str
    type: str
    times: int = 1
    """The number of adjacent equal modules that it stands for."""

    @property
    def depth(self) -> int:
        """Return the number of enclosing modules."""
        return self.path.count(".") + 1 if self.path else 0


def modules(function: Function) -> list[Module]:
    """Return the modules that the entries of a function pass through, each before its submodules."""
    types: dict[str, str] = {}
    for compiled in function.compiles:
        types = {**_modules_of(compiled), **types}
    return [Module(path, types[path]) for path in sorted(types, key=_order)]


def owner(function: Function) -> str:
    """Return the class of the module whose method this function is, as far as its guards name it, or ""."""
    return next((module.type for module in modules(function) if not module.path), "")


def _modules_of(compiled: Compile) -> dict[str, str]:
    types: dict[str, str] = {}
    for guard in compiled.guards.guards if isinstance(compiled.guards, GuardSet) else ():
        match = _TYPE.match(guard.clause) if guard.kind == "TYPE_MATCH" else None
        path = _path(match["path"]) if match is not None else None
        if match is not None and path is not None:
            types.setdefault(path, match["type"])
    return types


def _path(expression: str) -> str | None:
    """Return the path of a module, or None for another value."""
    rest, names = expression.removeprefix(_SELF), []
    while rest:
        step = _STEP.match(rest)
        if step is None:
            return None
        names.append(step["name"])
        rest = rest[step.end() :]
    return ".".join(names)


def _order(path: str) -> list[tuple[int, int, str]]:
    """Return a sort key that compares numbers by value and puts submodules after their module."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in path.split(".")] if path else []


def folded(all_modules: list[Module]) -> list[Module]:
    """Return the modules, with equal consecutive modules of a list shown once.

    before: `blocks.0`, `blocks.0.norm`, `blocks.1`, `blocks.1.norm`
    after: `blocks.0` twice, `blocks.0.norm`
    """
    inside = {module.path: _inside(all_modules, index) for index, module in enumerate(all_modules)}
    kept: list[Module] = []
    last: dict[str, int] = {}
    hidden: str | None = None
    for module in all_modules:
        if hidden is not None and module.path.startswith(hidden):
            continue
        hidden = None
        parent, _, name = module.path.rpartition(".")
        before = last.get(parent)
        if name.isdigit() and before is not None and inside[kept[before].path] == inside[module.path]:
            kept[before] = replace(kept[before], times=kept[before].times + 1)
            hidden = f"{module.path}."
            continue
        if name.isdigit():
            last[parent] = len(kept)
        kept.append(module)
    return kept


def _inside(all_modules: list[Module], index: int) -> list[tuple[str, str]]:
    """Return the classes of a module and of its submodules, which follow it directly."""
    top = all_modules[index]
    end = index + 1
    while end < len(all_modules) and (not top.path or all_modules[end].path.startswith(f"{top.path}.")):
        end += 1
    return [(module.path[len(top.path) :], module.type) for module in all_modules[index:end]]
