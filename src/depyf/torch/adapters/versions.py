"""The versions that a dump was made with. They are told to the reader; nothing is decided by them."""

from __future__ import annotations

import platform

import torch


def torch_version() -> str:
    """Return torch's version, e.g. `2.13.0+cpu`."""
    return str(torch.__version__)


def python_version() -> str:
    """Return Python's version, e.g. `3.11.7`."""
    return platform.python_version()
