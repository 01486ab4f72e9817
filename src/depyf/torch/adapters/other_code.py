"""Temporary replacement of the code of a function's cache entries. torch asks the entries of packages before its own.

An entry of a package consists of guards and code, without a compile. Here it has the guards of torch's own entry, so
that a call goes to the same entry as without it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from depyf.torch.adapters import seams

MISSING = "before torch 2.9 it runs from its file only with `prepare_debug(install=True)`"
_NAMES = ("_load_precompile_entry", "_reset_precompile_entries", "_debug_get_precompile_entries")


def is_there() -> bool:
    """Return whether this torch can give cache entries other code."""
    return all(seam is not None for seam in _seams())


def reason_against(code: types.CodeType, entries: Sequence[seams.CacheEntry]) -> str:
    """Return why the entries of `code` cannot be given other code, or ""."""
    if not is_there():
        return MISSING
    if _seams()[2](code):
        return "the function has entries of a loaded package, which come first"
    owners = {(id(getattr(entry, "backend", None)), getattr(entry, "isolate_recompiles_id", None)) for entry in entries}
    return "the function was compiled with several backends, which guards do not distinguish" if len(owners) > 1 else ""


def run_instead(
    code: types.CodeType, others: Sequence[tuple[seams.CacheEntry, types.CodeType]]
) -> Callable[[], None]:
    """Make calls that entries of `code` serve run other code; return a function that ends this.

    Args:
        code: the user's code, for which `reason_against` returned "".
        others: every entry of it in torch's order, and the code to run for it.
    """
    load, reset, _ = _seams()
    for entry, other in others:
        load(code, seams.entry_guard_manager(entry), other)

    def end() -> None:
        reset(code)

    return end


def _seams() -> tuple[Any, Any, Any]:
    from torch._C._dynamo import eval_frame

    load, reset, of_packages = (getattr(eval_frame, name, None) for name in _NAMES)
    return load, reset, of_packages
