"""The marks of `mark_dynamic` and related functions on a tensor that the guards of this torch check."""

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
"""Where `mark_dynamic`, `maybe_mark_dynamic`, `mark_unbacked` and `mark_static` store the dimensions on a tensor.

Before 2.13 guards check only those of `mark_dynamic`.
"""

SIGN = "_has_dynamo_dim_marking" if _LOOKS_AT_ALL else DYNAMIC
"""The attribute without which guards check no mark of a tensor."""
