"""Find hooks that were registered on modules after their calls had been compiled. Compiled code ignores them.

before: `compiled(x)`, then `module.linear.register_forward_hook(log)`
after: a `Bypass` with the name and the line of `log`, which the code of the compile does not run
"""

from __future__ import annotations

import ast
import functools
import types
import weakref
from collections.abc import Iterator, Mapping

import torch

from depyf.bytecode.records import dataclass
from depyf.model.bypass import DISABLED, Bypass, Way
from depyf.model.naming import title
from depyf.model.run import GuardSet, Unavailable
from depyf.model.spelling import spelled
from depyf.model.user_line import UserLine
from depyf.model.user_source import line_at
from depyf.torch.adapters import seams
from depyf.torch.adapters.module_hooks import HOOKS, are_guarded, hooks_of, without_disable
from depyf.torch.capture.recorder import Running

_CALLED = "not dict_contains("
_END = '.__dict__, "forward")'
"""Dynamo's guard for a module that it calls: the module has no `forward` of its own."""


@dataclass(frozen=True, slots=True)
class _Called:
    """A module that a compile calls: the module, torch's expression for it, and the hooks that it had."""

    module: weakref.ref[torch.nn.Module]
    source: str
    hooks: frozenset[tuple[str, int]]
    running: Running


class HookedModules:
    """The modules that the compiles of one context call, each with the hooks of the last compile of each function."""

    def __init__(self) -> None:
        self._called: dict[tuple[int, str], _Called] = {}
        self._disabled: dict[tuple[int, str], Bypass] = {}

    def note(self, running: Running) -> None:
        """Record the modules that a compile calls, while torch writes its record of the guards."""
        guards, in_progress = running.compile.guards, seams.guards_in_progress()
        if not isinstance(guards, GuardSet) or isinstance(in_progress, Unavailable):
            return
        scope = {"L": in_progress.local_values, "G": in_progress.global_values}
        self._note_disabled(running, in_progress.local_values.get("self"))
        for guard in guards.guards:
            if guard.clause.startswith(_CALLED) and guard.clause.endswith(_END):
                source = guard.clause[len(_CALLED) : -len(_END)]
                module = _followed(source, scope)
                if isinstance(module, torch.nn.Module):
                    hooks = frozenset((name, number) for name, number, _ in hooks_of(module))
                    key = id(module), running.function.key
                    self._called[key] = _Called(weakref.ref(module), source, hooks, running)

    def _note_disabled(self, running: Running, owner: object) -> None:
        """Note the disabled hooks of the module whose `forward` is compiled. They run beside its code."""
        forward = getattr(type(owner), "forward", None)
        code = running.live_code() if running.live_code is not None else None
        if not isinstance(owner, torch.nn.Module) or getattr(forward, "__code__", None) is not code or code is None:
            return
        for name, _, hook in hooks_of(owner):
            inner = without_disable(hook)
            if inner is not None:
                what, where = _name_and_line(inner)
                about, compile_id = title(running.function), str(running.compile.id)
                self._disabled.setdefault(
                    (id(hook), name), Bypass(Way.HOOK, what, HOOKS[name], where, about, compile_id, DISABLED)
                )

    def bypasses(self) -> Iterator[Bypass]:
        """Yield each disabled hook, and each hook that was registered after the compiles that call its module."""
        yield from self._disabled.values()
        yield from self._registered_later()

    def _registered_later(self) -> Iterator[Bypass]:
        """Yield each hook that its module did not have in the last compile that calls the module."""
        for called in self._called.values() if not are_guarded() else ():
            module = called.module()
            for name, number, hook in hooks_of(module) if module is not None else ():
                if (name, number) not in called.hooks:
                    what, where = _name_and_line(hook)
                    on, running = spelled(called.source), called.running
                    about = f"{on}, {title(running.function)}"
                    yield Bypass(Way.HOOK, what, HOOKS[name], where, about, str(running.compile.id))


def _name_and_line(hook: object) -> tuple[str, UserLine | None]:
    """Return the name of a hook, and the line of its definition."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    plain = hook.__func__ if isinstance(hook, types.MethodType) else hook
    if not isinstance(plain, types.FunctionType):
        plain = vars(type(plain)).get("__call__")
    if not isinstance(plain, types.FunctionType):
        return type(hook).__qualname__, None
    code = plain.__code__
    return plain.__qualname__.rpartition("<locals>.")[2], line_at(code.co_filename, code.co_firstlineno, code.co_name)


def _followed(source: str, scope: Mapping[str, Mapping[str, object]]) -> object:
    """Return the value of torch's expression for a module without running code of the program, or None."""
    try:
        node = ast.parse(source, mode="eval").body
    except SyntaxError:
        return None
    steps: list[tuple[str, object]] = []
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner, attr=name):
                steps.append((".", name))
            case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
                steps.append(("[", key))
            case ast.Call(func=ast.Name(id="dict_item"), args=[inner, ast.Constant(value=key)]):
                steps.append(("[", key))
            case _:
                return None
        node = inner
    value: object = scope.get(node.id)
    for kind, part in reversed(steps):
        value = _step(value, kind, part)
    return value


def _step(value: object, kind: str, name: object) -> object:
    if kind == "[" and isinstance(value, Mapping):
        return value.get(name)
    if kind == "[" and type(value) in (list, tuple) and isinstance(name, int):
        return value[name] if name < len(value) else None  # type: ignore[index, arg-type]
    if kind == "." and name == "__dict__":
        return getattr(value, "__dict__", None)
    return getattr(value, "__dict__", {}).get(name) if kind == "." else None
