"""Random numbers of compiled graphs that equal eager's, for comparisons."""

from __future__ import annotations

import contextlib
from typing import Any


def eager_random_numbers() -> contextlib.AbstractContextManager[Any]:
    """Return a context manager that makes Inductor use eager's random number generators."""
    from torch._inductor import config

    patched: contextlib.AbstractContextManager[Any] = config.patch(fallback_random=True)
    return patched
