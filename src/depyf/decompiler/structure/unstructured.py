"""The exception for control flow that fits no statement."""

from __future__ import annotations


class Unstructured(Exception):
    """The control flow fits no statement; the message says where."""
