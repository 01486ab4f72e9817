"""Exceptions that pass through a function of depyf, and the traceback that the program sees."""

from __future__ import annotations

import functools
from types import TracebackType

from depyf.model.run import Unavailable
from depyf.torch.adapters.unseen import left_alone


@left_alone
def leave_out_own_frame(error: BaseException) -> None:
    """Remove the frame of depyf that caught an exception from its traceback, before the frame raises it again.

    Call it in an `except` block that ends with a bare `raise`.
    """
    traceback: TracebackType | None = error.__traceback__
    error.__traceback__ = traceback.tb_next if traceback is not None else None


@functools.cache
def own_frames_stay() -> Unavailable | None:
    """Return why depyf's frames cannot be left out of tracebacks, so that depyf must not catch exceptions there."""

    def raises() -> None:
        raise ValueError

    def passes_on() -> None:
        try:
            raises()
        except ValueError as error:
            leave_out_own_frame(error)
            raise

    try:
        passes_on()
    except ValueError as error:
        link = error.__traceback__
    names = []
    while link is not None:
        names.append(link.tb_frame.f_code.co_name)
        link = link.tb_next
    if passes_on.__name__ in names:
        return Unavailable("Python before 3.11 would show depyf in the tracebacks of the program")
    return None
