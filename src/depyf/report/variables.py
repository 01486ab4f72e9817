"""Environment variables that say what is told of a run. Nothing else is imported for them."""

from __future__ import annotations

SUMMARY_VARIABLE = "DEPYF_SUMMARY"
"""Set to `0` to have nothing printed to a terminal when a context ends."""
