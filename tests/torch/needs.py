"""Tests of what some releases of torch do not have."""

from __future__ import annotations

import pytest

from depyf.model.run import Unavailable


def needs(missing: Unavailable | None) -> pytest.MarkDecorator:
    """Return a mark that skips a test where something is missing, with the reason that the index gives."""
    return pytest.mark.skipif(missing is not None, reason=missing.reason if missing is not None else "")
