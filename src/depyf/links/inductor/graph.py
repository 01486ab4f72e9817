"""Parse the nodes of a graph from its text.

before: `add: "f32[8, 4][4, 1]cpu" = torch.ops.aten.add.Tensor(mul, 1);  mul = None`
after: node `add`, which calls `aten.add` with `mul` and 1, of 32 elements
"""

from __future__ import annotations

import ast
import functools
import math
import re

from depyf.bytecode.records import dataclass
from depyf.model.syntax import names_in

_SHAPE = re.compile(r"(?P<dtype>[a-z]+\d+(?:e\d+m\d+\w*)?)\[(?P<sizes>[^\]]*)\]")


@dataclass(frozen=True)
class Node:
    """A node of a graph: its operation, its arguments, and its line in the text.

    operation: the short name, for example `add`; "" for an input.
    sizes: None if the text does not show them.
    value: the expression.
    """

    name: str
    operation: str
    arguments: tuple[ast.expr, ...]
    keywords: tuple[tuple[str, ast.expr], ...]
    line: int
    dtype: str = ""
    sizes: tuple[int, ...] | None = None
    value: ast.expr | None = None

    @property
    def count(self) -> int:
        """The number of elements, or 0 if the text does not show it."""
        return math.prod(self.sizes) if self.sizes is not None else 0

    @functools.cached_property
    def text(self) -> str:
        """The expression as text."""
        return ast.unparse(self.value) if self.value is not None else ""

    @functools.cached_property
    def numbers(self) -> frozenset[float]:
        """The numbers among its arguments."""
        values = (argument.value for argument in self.arguments if isinstance(argument, ast.Constant))
        return frozenset(float(value) for value in values if isinstance(value, (int, float)))

    @functools.cached_property
    def uses(self) -> tuple[str, ...]:
        """The names in its arguments."""
        parts = [*self.arguments, *(value for _, value in self.keywords)]
        return tuple(name for part in parts for name in names_in(part))


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph: its nodes by name, inputs first, and the names that it returns.

    outputs: the same in order, with "" for a value that is not a node.
    """

    nodes: dict[str, Node]
    returned: frozenset[str]
    outputs: tuple[str, ...] = ()


def read_graph(text: str) -> Graph:
    """Return the graph in a text, or an empty graph."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return Graph({}, frozenset())
    # A nested graph, such as the score function of `flex_attention`, is a class inside the class.
    bodies = [tree.body, *(statement.body for statement in tree.body if isinstance(statement, ast.ClassDef))]
    forwards = [
        statement
        for body in bodies
        for statement in body
        if isinstance(statement, ast.FunctionDef) and statement.name == "forward"
    ]
    if not forwards:
        return Graph({}, frozenset())
    function = forwards[-1]
    nodes: dict[str, Node] = {}
    for arg in function.args.args:
        dtype, sizes = _shape(arg.annotation)
        nodes[arg.arg] = Node(arg.arg, "", (), (), arg.lineno, dtype, sizes)
    returned: set[str] = set()
    outputs: list[ast.expr] = []
    for statement in function.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value, annotation=annotation):
                nodes[name] = _node(name, value, annotation)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not isinstance(value, ast.Constant):
                nodes[name] = _node(name, value, None)
            case ast.Return(value=ast.expr() as value):
                returned = {*names_in(value)}
                outputs = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
    names = tuple(output.id if isinstance(output, ast.Name) else "" for output in outputs)
    return Graph(nodes, frozenset(returned), names)


def _node(name: str, value: ast.expr, annotation: ast.expr | None) -> Node:
    dtype, sizes = _shape(annotation)
    match value:
        case ast.Call(func=function, args=args, keywords=keywords):
            path = ast.unparse(function).split(".")
            operation = path[3] if path[:2] == ["torch", "ops"] and len(path) > 3 else path[-1]
            options = tuple((keyword.arg or "", keyword.value) for keyword in keywords)
            return Node(name, operation, tuple(args), options, value.lineno, dtype, sizes, value)
        case ast.Subscript(value=base, slice=index):
            return Node(name, "getitem", (base, index), (), value.lineno, dtype, sizes, value)
    return Node(name, "unknown", (value,), (), value.lineno, dtype, sizes, value)


def _shape(annotation: ast.expr | None) -> tuple[str, tuple[int, ...] | None]:
    text = annotation.value if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str) else ""
    shape = _SHAPE.search(text)
    if shape is None:
        return "", None
    sizes = [size.strip() for size in shape["sizes"].split(",") if size.strip()]
    return shape["dtype"], tuple(map(int, sizes)) if all(map(str.isdigit, sizes)) else None
