"""Locate a node: its line in the text of its graph, and the user's line that it came from."""

from __future__ import annotations

import os
import re
from typing import Any

import torch

from depyf.model.user_line import UserLine
from depyf.model.user_source import line_at

Node = Any

_FRAME = re.compile(r'^ *File "(?P<file>.*)", line (?P<line>\d+), in (?P<fn>.*)$', re.MULTILINE)
_GENERATED = "<eval_with_key>"
"""The file name of a graph's code. It appears among the user's frames if a graph is captured again."""


_TORCH = os.path.join(os.path.dirname(torch.__file__), "")


def graph_line(text: str, name: str) -> tuple[int, str]:
    """Return the number, from 1, and the text of the line of a graph's text that computes `name`; 0 and '' if none."""
    computes = re.compile(rf"\s*{re.escape(name)}\s*(:[^=]*)?=[^=]|\s*def forward\(.*\b{re.escape(name)}\s*[:,)]")
    for number, line in enumerate(text.splitlines(), start=1):
        if computes.match(line):
            return number, line.strip()
    return 0, ""


def user_line(node: Node) -> UserLine | None:
    """Return the innermost user line that a node came from, or None if torch does not record it.

    Some functions of torch's are written in Python, such as `rms_norm`: the line that calls them is meant.
    """
    frames = [frame for frame in _FRAME.finditer(node.meta.get("stack_trace") or "") if _GENERATED not in frame["file"]]
    if not frames:
        return None
    frames = [frame for frame in frames if not frame["file"].startswith(_TORCH)] or frames
    return line_at(frames[-1]["file"], int(frames[-1]["line"]), frames[-1]["fn"])
