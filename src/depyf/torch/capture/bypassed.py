"""Note what compiled code does not serve: methods of the original module, and calls under a stance.

before: `compiled = torch.compile(module)`, and later `compiled.generate(x)`
after: a `Bypass` with the text `compiled.generate`, the user's line, and what the source of `generate` runs
"""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import textwrap
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch

from depyf.model.bypass import (
    CALL,
    CALL_OF_TORCH,
    EAGER_ON_RECOMPILE,
    FAIL_ON_RECOMPILE,
    FORCE_EAGER,
    FORWARD,
    PARTS,
    UNKNOWN,
    Bypass,
    Way,
)
from depyf.model.run import Function, Session
from depyf.model.user_source import code_source
from depyf.torch.adapters import seams
from depyf.torch.adapters.caller import is_in_compiled_call, own_frame
from depyf.torch.adapters.compiled_modules import is_compiled, is_compiled_module
from depyf.torch.adapters.skips import OF_TORCH
from depyf.torch.capture.active import HITS
from depyf.torch.capture.weak_codes import WeakCodes

_COMPILED = ""
"""A method that runs only modules that are compiled by themselves."""
_ENTRY = re.compile(r"^\d+/\d+: ")
MOST_METHODS = 100
"""The most methods of a module that are read to find what one of them runs."""


class Bypassed:
    """Notes in a session what compiled code did not serve. Created at the first event."""

    def __init__(self, session: Session, code_of: Callable[[Function], types.CodeType | None]) -> None:
        """Begin; `code_of` returns the code of a function of the session, while the program holds it."""
        self._session = session
        self._code_of = code_of
        stances = StanceCalls(self._note, self._served)
        self._listeners: dict[str, Callable[..., None]] = {
            "method": MethodCalls(self._note).listener,
            "called": stances.called,
            "raised": stances.raised,
            "ended": stances.ended,
        }

    def on_event(self, kind: str, *facts: Any) -> None:
        """Receive an event with torch's objects."""
        self._listeners[kind](*facts)

    def _note(self, bypass: Bypass) -> None:
        self._session.bypassed[bypass] = self._session.bypassed.get(bypass, 0) + 1

    def _served(self, code: types.CodeType) -> int | None:
        """Return how many calls the entries of a code object have served, or None if that is not known."""
        if HITS in self._session.unavailable:
            return None
        functions = [function for function in self._session.functions.values() if self._code_of(function) is code]
        hits = sum(compiled.hits or 0 for function in functions for compiled in function.compiles)
        return hits + self._session.earlier.get((code.co_name, code.co_filename, code.co_firstlineno), 0)


class MethodCalls:
    """Calls of methods of the original module on a compiled module; each place is read once."""

    def __init__(self, tell: Callable[[Bypass], None]) -> None:
        self._tell = tell
        self._texts: WeakCodes[dict[int, str]] = WeakCodes()
        self._ways: WeakCodes[str] = WeakCodes()

    def listener(self, module: object, name: str, method: types.MethodType, frame: types.FrameType) -> None:
        """Note a call of `method`, which `frame` takes off the compiled form of `module`.

        Args:
            module: the original module.
            name: the name of the method.
            method: the method.
            frame: the frame of the program that takes it.
        """
        if seams.current_compile() is not None or not isinstance(module, torch.nn.Module) or is_compiled(method):
            return
        if is_in_compiled_call(frame):
            return  # Dynamo compiles the frames of the method itself, unless the program has turned that off.
        text = self._text(frame, name)
        if not text:
            return
        way = self._way(module, method)
        if way:
            where = own_frame(frame)
            self._tell(Bypass(Way.METHOD, text, way, where, type(module).__qualname__.replace("<locals>.", "")))

    def _text(self, frame: types.FrameType, name: str) -> str:
        """Return the text of the callee if the frame is about to call the attribute that it takes, or ""."""
        known = self._texts.get(frame.f_code)
        if known is None:
            known = self._texts[frame.f_code] = {}
        if frame.f_lasti not in known:
            known[frame.f_lasti] = _callee(frame, name)
        return known[frame.f_lasti]

    def _way(self, module: torch.nn.Module, method: types.MethodType) -> str:
        if is_compiled_module(module):
            return ""
        function = _plain(method)
        if function is None:
            return UNKNOWN
        way = self._ways.get(function.__code__)
        if way is None:
            way = self._ways[function.__code__] = way_of(module, function)
        return CALL_OF_TORCH if way == CALL and _has_forward_of_torch(module) else way


class StanceCalls:
    """Calls under a stance of the program. Each is noted if no entry served it.

    torch reports only runs of entries, and not the end of a call. So a call under `eager_on_recompile` stays open until
    the next call of the same function or the end of the stance. It ran eager if no entry ran in the meantime.
    """

    def __init__(self, tell: Callable[[Bypass], None], served: Callable[[types.CodeType], int | None]) -> None:
        """Note calls with `tell`. `served` returns how many calls the entries of a code object served, if known."""
        self._tell = tell
        self._served = served
        self._open: dict[int, tuple[types.CodeType, Bypass, int | None]] = {}
        self._lock = threading.Lock()

    def called(self, stance: str, function: object, frame: types.FrameType | None) -> None:
        """Receive a call of a compiled function from `frame`, before it runs.

        Args:
            stance: the stance of the call.
            function: the function that was compiled.
            frame: the frame that calls it.
        """
        code, name = _code_and_name(function)
        bypass = Bypass(Way.STANCE, name, stance, own_frame(frame), name)
        if stance == FORCE_EAGER:
            self._tell(bypass)
        elif stance == EAGER_ON_RECOMPILE and code is not None:
            with self._lock:
                self._close(self._open.pop(id(code), None))
                self._open[id(code)] = (code, bypass, self._served(code))

    def raised(self, function: object, frame: types.FrameType | None, error: BaseException) -> None:
        """Receive the exception that ends a call under `fail_on_recompile`.

        Args:
            function: the function that was compiled.
            frame: the frame that calls it.
            error: the exception, with the guard failures in its text.
        """
        _, name = _code_and_name(function)
        lines = [line.strip().removeprefix("- ") for line in str(error).splitlines()]
        reason = next((line for before, line in pairwise(lines) if before.endswith("guard failure(s):")), "")
        reason = _ENTRY.sub("", reason)
        self._tell(Bypass(Way.STANCE, name, FAIL_ON_RECOMPILE, own_frame(frame), name, reason=reason))

    def ended(self) -> None:
        """Note the last calls, because the stance has ended."""
        with self._lock:
            while self._open:
                self._close(self._open.popitem()[1])

    def _close(self, waiting: tuple[types.CodeType, Bypass, int | None] | None) -> None:
        if waiting is None:
            return
        code, bypass, before = waiting
        now = self._served(code)
        if before is None or now is None:
            self._tell(replace(bypass, reason=UNKNOWN))
        elif now == before:
            self._tell(bypass)


def _code_and_name(function: object) -> tuple[types.CodeType | None, str]:
    """Return the code of a compiled function, and its name for readers; for a module, those of its `forward`."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, torch.nn.Module) and getattr(function, "__name__", "") in RUN_A_MODULE:
        function = owner.forward
    plain = function.__func__ if isinstance(function, types.MethodType) else function
    name = getattr(plain, "__qualname__", "") or type(plain).__qualname__
    return getattr(plain, "__code__", None), name.rpartition("<locals>.")[2]


RUN_A_MODULE = ("__call__", "_wrapped_call_impl", "_call_impl")
"""Methods of a module that call its `forward`."""


def _callee(frame: types.FrameType, name: str) -> str:
    """Return the text of the attribute that a frame takes, if a call of it follows, or ""."""
    code, filename = frame.f_code, frame.f_code.co_filename
    positions = list(code.co_positions()) if hasattr(code, "co_positions") else []
    at = frame.f_lasti // 2
    _, line, begin, end = positions[at] if at < len(positions) else (None, None, None, None)
    if line is not None and begin is not None and end is not None:
        text = linecache.getline(filename, line).encode()
        before, after = text[:end].decode(errors="replace"), text[end:].decode(errors="replace")
        is_call = after.lstrip().startswith("(") and before.endswith(name)
        return text[begin:end].decode(errors="replace") if is_call and begin < end else name if is_call else ""
    match = re.search(rf"[\w.\[\]\"']*\.{re.escape(name)}(?=\s*\()", linecache.getline(filename, frame.f_lineno))
    return match[0] if match is not None else ""


def _plain(method: object) -> types.FunctionType | None:
    """Return the function of a method, below decorators such as `torch.no_grad()`, or None."""
    function = method.__func__ if isinstance(method, types.MethodType) else method
    for _ in range(MOST_METHODS):
        inner = getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    return function if isinstance(function, types.FunctionType) else None


def _has_forward_of_torch(module: torch.nn.Module) -> bool:
    function = _plain(module.forward)
    return function is not None and function.__code__.co_filename.startswith(OF_TORCH)


def way_of(module: torch.nn.Module, function: types.FunctionType) -> str:
    """Return what a method runs of its module, by the source of it and of the methods that it calls.

    The result is "" if it runs only parts that are compiled by themselves.
    """
    pending, seen = [function], {function.__code__}
    ways: set[str] = set()
    while pending:
        for name, is_call, may_run in _uses(module, pending.pop()):
            part = module._modules.get(name)
            if part is not None and may_run:
                ways.add(_COMPILED if is_compiled_module(part) else PARTS)
            elif name in ("", "__call__"):
                ways.add(CALL)
            elif name == "forward" and is_call:
                ways.add(FORWARD)
            elif is_call:
                other = _plain(getattr(type(module), name, None))
                if other is not None and other.__code__ not in seen and len(seen) < MOST_METHODS:
                    seen.add(other.__code__)
                    pending.append(other)
    return next((way for way in (FORWARD, CALL, PARTS, _COMPILED) if way in ways), UNKNOWN)


def _uses(module: torch.nn.Module, function: types.FunctionType) -> Iterator[tuple[str, bool, bool]]:
    """Yield the attributes of `self` in a method, whether it calls them, and whether it may run them as modules.

    The name is "" for a call of `self`. `len(self.blocks)`, `self.head.parameters()` and `self.head.weight.numel()` run
    no module.
    """
    if function.__code__.co_argcount == 0 or function.__module__ == "torch.nn.modules.module":
        return
    self_name = function.__code__.co_varnames[0]
    try:
        tree = ast.parse(textwrap.dedent(code_source(function.__code__)[0]))
    except SyntaxError:
        return
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls = [call for call in calls if not _is_of_tensor(call.func, module, self_name)]
    called = {id(call.func) for call in calls}
    runs = {id(_run_by(call)) for call in calls}
    # checkpoint(self.block, x)
    runs |= {id(given) for call in calls if not _is_builtin(call) for given in call.args}
    # for block in self.blocks: x = block(x)
    has_local = any(isinstance(call.func, ast.Name) and call.func.id in function.__code__.co_varnames for call in calls)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == self_name:
                yield attribute, id(node) in called, has_local or id(node) in runs
            case ast.Call(func=ast.Name(id=name)) if name == self_name:
                yield "", True, True


def _run_by(call: ast.Call) -> ast.expr:
    """Return what a call runs: `self.blocks` for `self.blocks[0](x)`, `self.encoder.layer(x)` and `.forward(x)`."""
    node: ast.expr = call.func
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Attribute) and not isinstance(node.value, ast.Name) and not _is_other_method(node):
            node = node.value
        else:
            return node


def _is_of_tensor(callee: ast.expr, module: torch.nn.Module, self_name: str) -> bool:
    """Return whether a callee is a method of a parameter or a buffer, such as `self.embedding.weight.numel`.

    Args:
        callee: the callee of a call in a method of the module.
        module: the module.
        self_name: the name of the method's first parameter.
    """
    names = []
    while isinstance(callee, ast.Attribute):
        names.append(callee.attr)
        callee = callee.value
    owner: torch.nn.Module | None = module if isinstance(callee, ast.Name) and callee.id == self_name else None
    for name in reversed(names[1:]):
        if owner is None:
            return False
        if name in owner._parameters or name in owner._buffers:
            return True
        owner = owner._modules.get(name)
    return False


def _is_other_method(node: ast.Attribute) -> bool:
    """Return whether an attribute is a method of all modules that does not run them, such as `parameters`."""
    return node.attr not in ("forward", "__call__") and hasattr(torch.nn.Module, node.attr)


def _is_builtin(call: ast.Call) -> bool:
    """Return whether a call is one of a builtin that runs no module it is given, such as `len`, `zip` or `print`."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    return hasattr(builtins, name) and name not in ("map", "filter")
