"""The path of the `torch.nn.Module` that a node of a graph or a traced function belongs to."""

from __future__ import annotations

import re
from functools import lru_cache

_ITEM = re.compile(r"\[['\"]?(\w+)['\"]?\]")
_PARTS = re.compile(r"\b_(?:modules|parameters|buffers)\b\.?")
_BASE = re.compile(r"^(?:L|G)\.\w+\.?")


def module_of(stack: object) -> tuple[str, str]:
    """Return the path and the class of the innermost module of torch's `nn_module_stack`, or two empty strings.

    >>> class Block: pass
    >>> module_of({"7": ("L['self']._modules['layers'][3]", Block)})
    ('layers.3', 'Block')
    """
    if not isinstance(stack, dict) or not stack:
        return "", ""
    innermost = stack[next(reversed(stack))]
    if not isinstance(innermost, tuple) or len(innermost) < 2 or not isinstance(innermost[0], str):
        return "", ""
    return module_path(innermost[0]), getattr(innermost[1], "__name__", str(innermost[1]).rpartition(".")[2])


@lru_cache(maxsize=4096)
def module_path(source: str) -> str:
    """Return the path of a module below the compiled one, from torch's expression for it.

    >>> module_path("L['self'].encoder.layers.3"), module_path("L__self___layers.0"), module_path("L['self']")
    ('encoder.layers.3', 'layers.0', '')
    """
    text = _ITEM.sub(r".\1", source.replace("L__self___", "L['self']."))
    text = _PARTS.sub("", text.replace("..", "."))
    return _BASE.sub("", text.replace("..", ".")).strip(".")
