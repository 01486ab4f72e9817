"""Cut a graph after some node, and find the first node after which the graph goes wrong.

before, cut after `z`
    y = torch.sin(x);  z = y + w;  u = z * y;  return (u,)

after: it returns `z`, and everything else that the rest of the graph needs
    y = torch.sin(x);  z = y + w;  return (z, y)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
import torch.fx

_Cut = TypeVar("_Cut")

_OPENING = re.compile(r"_enter_|.*_increment_nesting$")
_CLOSING = re.compile(r"_exit_|.*_decrement_nesting$")
"""Dynamo's functions that enter and leave a context, such as autocast or `vmap`. A cut in between leaves it open."""

_SETS_MODE = ("_set_grad_enabled", "inference_mode")


def cuts(module: torch.fx.GraphModule, has_tensor: Callable[[torch.fx.Node], bool]) -> list[torch.fx.Node]:
    """Return the nodes after which a graph can be cut: those that compute a tensor outside any open context."""
    nodes, depth, changed = [], 0, False
    for node in module.graph.nodes:
        name = getattr(node.target, "__name__", "")
        depth += _OPENING.match(name) is not None
        depth -= _CLOSING.match(name) is not None
        if name in _SETS_MODE and node.args:
            changed = node.args[0] is False
        is_computed = node.op not in ("placeholder", "output", "get_attr")
        if is_computed and not depth and not changed and has_tensor(node):
            nodes.append(node)
    return nodes


def prefix(
    module: torch.fx.GraphModule, last: torch.fx.Node, has_tensor: Callable[[torch.fx.Node], bool]
) -> torch.fx.GraphModule:
    """Return the graph up to `last`. It returns the result of `last` and every tensor that the rest reads.

    Args:
        module: the graph.
        last: the last node to run.
        has_tensor: whether the result of a node is a tensor.
    """
    graph = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    for node in module.graph.nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
        if node is last:
            break
    read_later = [node for node in copies if any(user not in copies for user in node.users)]
    kept = [node for node in read_later if node.op != "placeholder" and node is not last and has_tensor(node)]
    graph.output(tuple(copies[node] for node in (last, *kept)))
    return torch.fx.GraphModule(module, graph)


def first_wrong(nodes: Sequence[_Cut], is_wrong: Callable[[_Cut], bool]) -> _Cut | None:
    """Return the first of `nodes`, or of the lines of a kernel, after which the graph is wrong; None if there is none.

    An error persists in longer prefixes, because a cut returns everything that the rest of the graph would read.
    """
    if not nodes or not is_wrong(nodes[-1]):
        return None
    low, high = -1, len(nodes) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if is_wrong(nodes[middle]):
            high = middle
        else:
            low = middle
    return nodes[high]
