"""Features that this torch lacks, each with a reason. The index prints the reason, and tests are skipped with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache

import torch
from torch._dynamo import guards, symbolic_convert
from torch._dynamo.side_effects import SideEffects

from depyf.model.parts import SIDE_EFFECTS
from depyf.model.run import Unavailable
from depyf.torch.adapters import cpp_guards
from depyf.trace import stages

_LOGS_OF_RECOMPILES = ("get_and_maybe_log_recompilation_reason", "get_and_maybe_log_recompilation_reasons")
_EVAL_FRAME = torch._C._dynamo.eval_frame


def structured_trace() -> Unavailable | None:
    """Return why torch writes no trace."""
    if hasattr(torch._logging, "trace_structured"):
        return None
    return Unavailable("torch before 2.4 writes none: times, reasons for recompiles and skipped frames are unknown")


def traced_breaks() -> Unavailable | None:
    """Return why graph breaks do not come from torch's trace."""
    if _traces_breaks():
        return None
    return Unavailable("before 2.6 torch's trace has no graph breaks; their hints are unknown")


def refusals() -> Unavailable | None:
    """Return why it is unknown why earlier entries refused a call."""
    logs = [getattr(guards, name, None) for name in _LOGS_OF_RECOMPILES]
    if any(log is not None and "trace_structured" in log.__code__.co_names for log in logs):
        return None
    return Unavailable("before 2.6 torch does not say why earlier entries refused a call")


def guard_trees() -> Unavailable | None:
    """Return why the C++ guards of an entry cannot be read one by one."""
    return None if cpp_guards.has_trees() else Unavailable("before 2.3 the guards of an entry are one Python function")


def compile_ids() -> Unavailable | None:
    """Return why entries without a recorded compile have depyf's own numbers."""
    if hasattr(getattr(_EVAL_FRAME, "_CacheEntry", None), "compile_id"):
        return None
    return Unavailable("before 2.6 torch's cache entries do not carry the id of their compile")


def profiled_compiles() -> Unavailable | None:
    """Return why a profile of compiled code has no lines."""
    if hasattr(getattr(_EVAL_FRAME, "_CacheEntry", None), "trace_annotation"):
        return None
    return Unavailable("before 2.6 torch's profiler does not say which compile runs, so compiled code has no lines")


def guarded_types() -> Unavailable | None:
    """Return why guards that are read after the call use torch's own guard for a tensor."""
    if cpp_guards.tells_types() or not cpp_guards.has_trees():
        return None
    return Unavailable("before 2.7 torch's guards do not provide the type of their value")


def described_state() -> Unavailable | None:
    """Return why a guard on the global state that is read after the call uses torch's own."""
    words = getattr(guards.GuardBuilder, "GLOBAL_STATE", None)
    if words is not None and "__getstate__" in words.__code__.co_names:
        return None
    return Unavailable("this torch's guard on the global state does not provide the state it was made for")


def autograd_compile_ids() -> Unavailable | None:
    """Return why compiles of compiled autograd cannot be distinguished from other frames by number."""
    if "compiled_autograd_id" in inspect.signature(torch._guards.CompileId).parameters:
        return None
    return Unavailable("before 2.7 compiles of compiled autograd are numbered like any other frame")


def side_effects() -> Unavailable | None:
    """Return why side effects have no lines of the user's."""
    if hasattr(SideEffects, "_format_side_effect_message"):
        return None
    return Unavailable("before 2.12 torch does not say which lines of the user's change an object")


def wrappers() -> Unavailable | None:
    """Return why AOTAutograd's wrappers are in no file."""
    try:
        from torch._functorch._aot_autograd.runtime_wrappers import _codegen_epilogue  # noqa: F401 - is it there?
    except ImportError:
        return Unavailable("before 2.13 torch generates no source for them: its own code wraps every graph")
    return None


def marks() -> Unavailable | None:
    """Return why void marks of `maybe_mark_dynamic` are unknown."""
    if cpp_guards.looks_at("DIMENSION_DYNAMIC_MARKING_GUARD"):
        return None
    return Unavailable("before 2.13 guards do not check them, so it is unknown whether a mark has an effect")


_LOOKED_FOR: dict[str, Callable[[], Unavailable | None]] = {
    "structured trace": structured_trace,
    "hints of graph breaks": traced_breaks,
    "why entries refused a call": refusals,
    "guards of an entry one by one": guard_trees,
    "compile ids of entries from outside a context": compile_ids,
    "lines of compiled code in a profile": profiled_compiles,
    "types in guards that are read after the call": guarded_types,
    "global state in guards that are read after the call": described_state,
    "compile ids of compiled autograd": autograd_compile_ids,
    "files of AOTAutograd's wrappers": wrappers,
    SIDE_EFFECTS: side_effects,
    "marks of `maybe_mark_dynamic`": marks,
}


@cache
def _traces_breaks() -> bool:
    # The function that writes the record has another name and place in each release.
    return stages.BREAK_REASON in inspect.getsource(symbolic_convert)


def reasons() -> dict[str, str]:
    """Return what this torch lacks, and why."""
    missing_seams = {seam: missing() for seam, missing in _LOOKED_FOR.items()}
    return {seam: missing.reason for seam, missing in missing_seams.items() if missing is not None}
