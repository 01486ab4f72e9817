"""Recompiles of one call: those of a function and of its resume functions."""

from __future__ import annotations

from depyf.model.run import Compile, Function


def call_of(function: Function, compiled: Compile) -> tuple[object, ...]:
    """Return a key that only the compiles of one call share; the compile's own if the calls are not counted."""
    return (function.root, compiled.call) if compiled.call is not None else (compiled.order,)
