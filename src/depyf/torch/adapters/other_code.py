"""Other code for the cache entries of a function, for a while: torch asks the entries of packages before its own.

An entry of a package is guards and code, with no compile behind it. Here it has the guards of an entry of torch's own,
so that a call goes to the same entry as without it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from depyf.torch.adapters import seams

MISSING = "before torch 2.9 only `prepare_debug(install=True)` lets it run from its file"
_NAMES = ("_load_precompile_entry", "_reset_precompile_entries", "_debug_get_precompile_entries")


def is_there() -> bool:
    """Return whether this torch can give cache entries other code."""
    return all(seam is not None for seam in _seams())


def reason_against(code: types.CodeType, entries: Sequence[seams.CacheEntry]) -> str:
    """Return why the entries of `code` cannot be given other code; '' where they can."""
    if not is_there():
        return MISSING
    if _seams()[2](code):
        return "the function has entries of a package that was loaded, which are asked first"
    owners = {(id(getattr(each, "backend", None)), getattr(each, "isolate_recompiles_id", None)) for each in entries}
    return "the function was compiled with several backends, which guards do not tell apart" if len(owners) > 1 else ""


def run_instead(
    code: types.CodeType, others: Sequence[tuple[seams.CacheEntry, types.CodeType]]
) -> Callable[[], None]:
    """Have calls that entries of `code` serve run other code; return what ends that.

    Args:
        code: the user's code, of which `reason_against` gives no reason.
        others: every entry of it in torch's order, and the code that is to run for it.
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
