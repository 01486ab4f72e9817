"""Explain a compiled function inside the program that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depyf.torch.capture.explanation import Explanation


def dump_src(compiled: object) -> str:
    """Return the full code of a compiled function: guards, transformed code, resume functions and dispatch.

    The code comes from torch's current cache, inside or outside a `prepare_debug` context.

    Args:
        compiled: a compiled function, method or module that has been called.

    Raises:
        TypeError: it is no function, method or module.
        ValueError: it has not been compiled.
    """
    from depyf.torch.replica.replica import Replica

    return Replica(compiled).text


def interactive_explain(compiled: object) -> Explanation:
    """Return an explanation of a compiled function, which a notebook shows in its cell.

    Args:
        compiled: a compiled function, method or module that has been called.

    Raises:
        TypeError: it is no function, method or module.
        ValueError: it has not been compiled.
    """
    from depyf.torch.capture.explanation import Explanation

    return Explanation(compiled)
