"""The marks of `mark_dynamic` and its kin on a tensor that the guards of this torch look at."""

from __future__ import annotations

from depyf.torch.adapters import cpp_guards

_LOOKS_AT_ALL = cpp_guards.looks_at("DIMENSION_DYNAMIC_MARKING_GUARD")

DYNAMIC = "_dynamo_dynamic_indices"

INDICES = (
    DYNAMIC,
    *(
        (
            "_dynamo_weak_dynamic_indices",
            "_dynamo_unbacked_indices",
            "_dynamo_strict_unbacked_indices",
            "_dynamo_static_indices",
        )
        if _LOOKS_AT_ALL
        else ()
    ),
)
"""Where `mark_dynamic`, `maybe_mark_dynamic`, `mark_unbacked` and `mark_static` leave the dimensions on a tensor.

Before 2.13 guards look at those of `mark_dynamic` alone.
"""

SIGN = "_has_dynamo_dim_marking" if _LOOKS_AT_ALL else DYNAMIC
"""The attribute without which guards look at no mark of a tensor."""
