"""Data that older releases of torch keep but do not trace: kernels before 2.4, graph breaks before 2.6."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def kernels() -> dict[str, str]:
    """Return the text of each module that Inductor has loaded in this process, by path, in order."""
    codecache = sys.modules.get("torch._inductor.codecache")
    modules: dict[str, Any] = getattr(getattr(codecache, "PyCodeCache", None), "cache", None) or {}
    paths = [str(module.__file__) for module in modules.values()]
    return {path: Path(path).read_text(encoding="utf-8") for path in paths if Path(path).exists()}


def graph_breaks() -> list[Any]:
    """Return torch's data on each graph break since Dynamo was reset, in order."""
    from torch._dynamo import utils

    return [reason for reason in utils.graph_break_reasons if getattr(reason, "graph_break", True)]


def break_text(reason: Any) -> str:
    """Return the text of a graph break in the format of later releases."""
    stack = list(reason.user_stack)
    lines = [f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}' for frame in stack]
    place = f"Graph break in user code at {stack[-1].filename}:{stack[-1].lineno}\n" if stack else ""
    return "\n".join([f"{place}Graph Break Reason: {reason.reason}", "User code traceback:", *lines])
