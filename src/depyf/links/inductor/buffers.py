"""Follow the contents of the buffers in Inductor's module from launch to launch.

before:
    buf2 = torch.ops.aten.topk.default(arg0_1, 3)
    buf3 = buf2[0]
    extern_kernels.mm(buf3, arg1_1, out=buf4)
after: `buf3` holds node `getitem`, and `buf4` holds `mm`
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from depyf.links.inductor.graph import Graph, Node
from depyf.links.inductor.module import Buffer, Launch

SCATTERS = ("index_put", "_unsafe_index_put", "scatter", "index_add", "index_copy", "index_fill", "masked_scatter")
"""The prefixes of operations that write at the indices in a tensor."""


class Buffers:
    """The known contents of a module's buffers by name: `terms` are values, `nodes` the nodes with these values."""

    def __init__(self, graph: Graph, of_node: Mapping[str, int], users: Mapping[str, Collection[str]]) -> None:
        self._graph, self._of_node, self._users = graph, of_node, users
        inputs = [node.name for node in graph.nodes.values() if not node.operation]
        self.terms: dict[str, int] = {name: of_node[name] for name in inputs}
        self.nodes = {name: name for name in inputs}
        self._whole: dict[str, str] = {}
        self._written: dict[str, dict[str, int]] = {}

    def hold(self, buffer: str, node: str) -> None:
        """Record that a buffer holds the result of a node."""
        self.terms[buffer], self.nodes[buffer] = self._of_node[node], node

    def forget(self, buffer: str) -> None:
        """Record that the content of a buffer is not known."""
        self.terms.pop(buffer, None)
        self.nodes.pop(buffer, None)

    def rename(self, launch: Launch) -> None:
        """Record that a buffer is another buffer, or one of the several results of a call."""
        source, *index = launch.arguments
        self.forget(launch.out)
        if index:
            node = self._item(self.nodes.get(source, ""), index[0])
            if node:
                self.hold(launch.out, node)
            return
        self._whole[launch.out] = source
        if source in self.terms:
            self.terms[launch.out] = self.terms[source]
        if source in self.nodes:
            self.nodes[launch.out] = self.nodes[source]

    def _item(self, whole: str, index: str) -> str:
        """Return the node that selects one of the several results of a node, or ""."""
        users = (self._graph.nodes.get(user) for user in self._users.get(whole, ()))
        items = (user for user in users if user is not None and user.operation == "getitem")
        return next((item.name for item in items if ast.unparse(item.arguments[1]) == index), "")

    def gather(self, part: str) -> None:
        """Record the content of a buffer after one of its parts was written: `cat`, when all its inputs are there."""
        whole = self._whole.get(part, "")
        if not whole or part not in self.terms:
            return
        self._written.setdefault(whole, {})[part] = self.terms[part]
        there = set(self._written[whole].values())
        cats = (node for node in self._graph.nodes.values() if node.operation == "cat")
        same = [cat for cat in cats if {self._of_node.get(name) for name in cat.uses} == there]
        if len(same) == 1:
            self.hold(whole, same[0].name)

    def library(self, launch: Launch, listed: Collection[str]) -> None:
        """Record the result of a library's kernel: the node with its name and the same operands.

        A kernel whose name ends in `_` changes its first argument.

        Args:
            launch: the call of the kernel in Inductor's module.
            listed: the nodes that the launch computes, as Inductor records them; empty if it records none.
        """
        operation, out = _operation(launch.kernel), result_of(launch)
        if not out:
            return
        given = {
            self.terms[buffer] for buffer in map(buffer_name, launch.arguments, launch.values) if buffer in self.terms
        }
        named = self._named(operation, listed)
        same = [node for node in named if self._operands(node) == given]
        left = same or named or self._scattering(operation)
        self.forget(out)
        if same or len(left) == 1:
            self.hold(out, left[0].name)

    def _named(self, operation: str, listed: Collection[str]) -> list[Node]:
        named = (node for node in self._graph.nodes.values() if node.operation == operation.removesuffix("_"))
        return [node for node in named if not listed or node.name in listed]

    def _operands(self, node: Node) -> set[int]:
        return {self._of_node[name] for name in node.uses if name in self._of_node}

    def _scattering(self, operation: str) -> list[Node]:
        """Return the scatters that no buffer holds yet. The graph names them differently than a kernel in place."""
        if not operation.endswith("_") or not operation.startswith(SCATTERS):
            return []
        nodes = (node for node in self._graph.nodes.values() if node.operation.startswith(SCATTERS))
        return [node for node in nodes if node.name not in self.nodes.values()]


def result_of(launch: Launch) -> str:
    """Return the name of the buffer with the result of a library's kernel, or "".

    A kernel whose name ends in `_` changes its first argument.
    """
    changes = _operation(launch.kernel).endswith("_")
    return launch.out or ("".join(launch.arguments[:1]) if changes else "")


def _operation(kernel: str) -> str:
    """Return the operation of a kernel: `topk` for `torch.ops.aten.topk.default`, `mm` for `extern_kernels.mm`."""
    path = kernel.split(".")
    return path[3 if path[0] == "torch" else 1] if len(path) > 1 else path[0]


def buffer_name(text: str, value: object) -> str:
    """Return the name of the buffer that an argument is or views, or ""."""
    if text.isidentifier():
        return text if value is None or isinstance(value, Buffer) else ""
    return value.name if isinstance(value, Buffer) else ""
