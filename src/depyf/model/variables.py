"""Environment variables of a capture. This module imports nothing else."""

from __future__ import annotations

SUMMARY_VARIABLE = "DEPYF_SUMMARY"
"""Set this to `0` to print no summary to the terminal when a context ends."""

PROOFS_VARIABLE = "DEPYF_PROOFS"
"""The folder of proven results between runs; `0` keeps none. By default it is in the user's cache folder."""
