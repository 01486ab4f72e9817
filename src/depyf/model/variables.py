"""Environment variables for the output of a run. This module imports nothing else."""

from __future__ import annotations

SUMMARY_VARIABLE = "DEPYF_SUMMARY"
"""Set this to `0` to print no summary to the terminal when a context ends."""
