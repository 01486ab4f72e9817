"""The replacements for records that torch does not write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from depyf.torch.adapters import lacking, seams
from depyf.torch.capture.recorder import Recorder

if TYPE_CHECKING:
    # Imported only where torch lacks the records.
    from depyf.torch.capture.untraced import UntoldBreaks, Untraced


def untold_records(recorder: Recorder) -> tuple[Untraced | None, UntoldBreaks | None]:
    """Return the replacements for records that this torch does not write."""
    breaks = lacking.traced_breaks() is not None
    if seams.has_structured_trace() and not breaks:
        return None, None
    from depyf.torch.capture.untraced import UntoldBreaks, Untraced

    untraced = None if seams.has_structured_trace() else Untraced(recorder)
    return untraced, UntoldBreaks(recorder) if breaks else None
