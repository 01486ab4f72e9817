"""Random numbers of compiled graphs: the same as eager's, for whoever compares the two."""

from __future__ import annotations

import contextlib
from typing import Any


def eager_random_numbers() -> contextlib.AbstractContextManager[Any]:
    """Return a context manager under which Inductor takes random numbers from eager's generators."""
    from torch._inductor import config

    patched: contextlib.AbstractContextManager[Any] = config.patch(fallback_random=True)
    return patched
