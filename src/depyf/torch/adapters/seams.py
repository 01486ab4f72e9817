"""The few places where depyf hooks into torch, each probed before it is used.

A seam that this torch does not have is `Unavailable`, with the reason that the index prints.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

import torch
import torch._dynamo
from torch._dynamo import convert_frame, resume_execution

from depyf.bytecode.records import dataclass
from depyf.model.run import CompileId, Unavailable
from depyf.torch.adapters import entry_ids, lacking
from depyf.torch.adapters.stances import own_stance

# torch's own objects without types that depyf could name.
CacheEntry: TypeAlias = Any
GuardManager: TypeAlias = Any
GraphModule: TypeAlias = Any
TorchCompileId: TypeAlias = Any
RemovableHandle: TypeAlias = Any

_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
OF_DYNAMO = (
    os.path.join(f"{_TORCH}_dynamo", ""),
    contextlib.__file__,
    f"{_TORCH}_utils_internal.py",
    os.path.join(f"{_TORCH}_strobelight", ""),
)
"""Prefixes of the files whose functions occur between a call and its compile: Dynamo's, and its decorators'."""

OF_DEPYF = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "")
"""The prefix of depyf's own files. What it puts around a program's functions is no call of the program's."""

TRACE_LOGGER = "torch.__trace"
_DEEPEST_CALLER = 30
"""The most calls between depyf and the frame that it looks for in torch; `logging` has some of its own."""


class BytecodeHook(Protocol):
    """Dynamo calls it with the original code and its own, which a result other than None replaces."""

    def __call__(self, code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
        """Receive one compile."""


def register_bytecode_hook(hook: BytecodeHook | Callable[[types.CodeType, types.CodeType], None]) -> RemovableHandle:
    """Register `hook(original code, Dynamo's code)`; return a handle with `remove()`."""
    return convert_frame.register_bytecode_hook(hook)


def has_structured_trace() -> bool:
    """Return whether torch writes structured records in this process."""
    return lacking.structured_trace() is None


def current_compile() -> tuple[CompileId, int] | None:
    """Return the id of the compile that runs in this thread and its attempt, or None."""
    context = getattr(torch._guards, "CompileContext", None)
    trace_id = context.current_trace_id() if context is not None else None
    if trace_id is None or trace_id.compile_id.frame_id is None:
        return None
    return read_compile_id(trace_id.compile_id), trace_id.attempt


def read_compile_id(compile_id: TorchCompileId) -> CompileId:
    """Return depyf's form of torch's own compile id."""
    autograd = getattr(compile_id, "compiled_autograd_id", None)
    return CompileId(compile_id.frame_id, compile_id.frame_compile_id, autograd if autograd is not None else -1)


def cache_entries(code: types.CodeType) -> list[CacheEntry]:
    """Return the cache entries that torch holds for a code object, in no particular order.

    An entry that torch has disabled because a guarded object is gone stays in torch's list without content.
    """
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list

    live_entries = [entry for entry in _debug_get_cache_entry_list(code) if entry.code is not None]
    entry_ids.number([entry.code for entry in reversed(live_entries)])
    return live_entries


def entry_compile_id(entry: CacheEntry) -> CompileId:
    """Return the id of the compile that made a cache entry. Before 2.6 entries do not carry it; depyf records it."""
    compile_id = getattr(entry, "compile_id", None)
    if compile_id is None or compile_id.frame_id is None:
        return entry_ids.of_code(entry.code)
    return read_compile_id(compile_id)


def entry_guard_manager(entry: CacheEntry) -> GuardManager:
    """Return the guard object of a cache entry, whose attribute was renamed in 2.6."""
    manager = getattr(entry, "guard_manager", None)
    return manager if manager is not None else entry.check_fn


def entry_globals(entry: CacheEntry) -> dict[str, Any]:
    """Return the globals of the code of a cache entry."""
    scope = getattr(entry_guard_manager(entry), "global_scope", None) or {}
    global_values = scope.get("G", {})
    return global_values if isinstance(global_values, dict) else {}


@dataclass(frozen=True, slots=True)
class GuardsInProgress:
    """The guards that torch has just built, and the values of the call for which it built them."""

    manager: GuardManager
    local_values: Mapping[str, object]
    global_values: Mapping[str, object]


def guards_in_progress() -> GuardsInProgress | Unavailable:
    """Return the guards of the running compile, while torch writes its record of them.

    torch makes them available only when the entry is in its cache, when the values of the call are gone. The function
    that writes the record has both.
    """
    for frame in _callers():
        owner = frame.f_locals.get("self") if frame.f_code.co_name == "__init__" else None
        graph = getattr(owner, "output_graph", None)
        manager = getattr(owner, "guard_manager", None)
        values = getattr(graph, "local_scope", None)
        if manager is not None and isinstance(values, Mapping):
            return GuardsInProgress(manager, values, getattr(graph, "global_scope", {}))
    return Unavailable("torch does not show its guards while it builds them")


def globals_in_progress() -> Mapping[str, object] | Unavailable:
    """Return the globals of the function that is being compiled, while Dynamo hands over its code."""
    for frame in _callers():
        code = frame.f_code
        if code.co_filename.endswith("convert_frame.py") and {"globals", "compiler_fn"} <= set(code.co_varnames):
            global_values = frame.f_locals.get("globals")
            if isinstance(global_values, Mapping):
                return global_values
    return Unavailable("torch does not give a hook the globals of the function")


def _callers() -> Iterator[types.FrameType]:
    frame = sys._getframe(1).f_back
    for _ in range(_DEEPEST_CALLER):
        if frame is None:
            return
        yield frame
        frame = frame.f_back


def interned_strings() -> dict[int, str] | Unavailable:
    """Return the file names that torch's structured stacks refer to by number.

    torch writes each name once in a process, possibly before depyf listened. Its table has all names.
    """
    structured = getattr(torch._logging, "_internal", None) and getattr(torch._logging, "structured", None)
    table = getattr(structured, "INTERN_TABLE", None)
    if not isinstance(table, dict):
        return Unavailable("torch has no table of the strings in its structured trace")
    return {number: text for text, number in list(table.items())}


def without_compiling() -> contextlib.AbstractContextManager[Any]:
    """Return a context manager in which Dynamo serves calls from its cache and compiles nothing."""
    set_stance = getattr(torch.compiler, "set_stance", None)
    if set_stance is None:
        return _run_only()
    return _without_recompiles(set_stance)


@contextlib.contextmanager
def _without_recompiles(set_stance: Callable[[str], contextlib.AbstractContextManager[Any]]) -> Iterator[None]:
    with own_stance():
        stance = set_stance("eager_on_recompile")
        stance.__enter__()
    try:
        yield
    finally:
        stance.__exit__(None, None, None)


@contextlib.contextmanager
def _run_only() -> Iterator[None]:
    """Switch compiled functions to Dynamo's mode without compiles, because torch has no stances before 2.6."""
    from torch._dynamo import eval_frame

    enter = eval_frame.set_eval_frame

    def enter_run_only(callback: Any) -> Any:
        return enter(False if callable(callback) else callback)

    eval_frame.set_eval_frame = enter_run_only
    try:
        yield
    finally:
        eval_frame.set_eval_frame = enter


def bytecode_log() -> logging.Logger:
    """Return the logger for `TORCH_LOGS="bytecode"`."""
    log: logging.Logger = torch._logging.getArtifactLogger(convert_frame.__name__, "bytecode")
    return log


BYTECODE_LOG_LEVEL = logging.DEBUG


def graph_formatter() -> types.FunctionType | Unavailable:
    """Return torch's `lazy_format_graph_code`, which clients call to dump a graph.

    Clients hold the function itself, so its code must be replaced and not the name.
    """
    from torch._dynamo import utils

    formatter = getattr(utils, "lazy_format_graph_code", None)
    if not inspect.isfunction(formatter):
        return Unavailable("torch has no lazy_format_graph_code")
    return formatter


def graph_text(module: GraphModule) -> str:
    """Return the readable text of a graph module, with shapes, strides and devices if this torch prints them."""
    options = inspect.signature(module.print_readable).parameters
    wanted = {name: True for name in ("include_stride", "include_device") if name in options}
    return str(module.print_readable(print_output=False, **wanted))


RESUME_PREFIX = f"{getattr(resume_execution, 'TORCH_DYNAMO_RESUME_IN_PREFIX', 'resume_in')}_"
"""Dynamo's prefix of the name of a resume function, before the function's name, `_at_` and the line of the break."""
EXPORTED = "runtime_asserts exported program"
"""A part of the name under which torch formats the graph of an export, which its trace does not contain."""
