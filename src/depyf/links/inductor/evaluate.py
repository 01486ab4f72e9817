"""Compute the terms of a graph's nodes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from depyf.links.inductor.graph import Graph, Node
from depyf.links.inductor.terms import PLACED, Terms

_VIEWS = frozenset(
    "view _unsafe_view reshape permute expand unsqueeze squeeze clone alias t transpose detach contiguous slice select"
    " lift_fresh_copy convert_element_type _to_copy to split split_with_sizes as_strided copy copy_ diagonal"
    " device_put flatten repeat unfold flip rev roll unbind".split()
)
_CASTS = frozenset(("convert_element_type", "_to_copy", "to"))
_PARTS = frozenset(("slice", "select", "split", "unbind", "split_with_sizes", "as_strided", "diagonal", "unfold"))
_REDUCTIONS = frozenset(("sum", "amax", "amin", "prod", "any", "max", "min", "argmax", "argmin"))
_FOREACH = "_foreach_"
_FILLED = {"full": 1, "full_like": 1, "scalar_tensor": 0, "new_full": 2}
_ZEROS = frozenset(("zeros", "zeros_like", "new_zeros"))
_ONES = frozenset(("ones", "ones_like", "new_ones"))

SCANS = {"add": "cumsum", "mul": "cumprod"}
"""The names of scans, by the operation that combines their elements."""


def graph_terms(graph: Graph, terms: Terms) -> tuple[dict[str, int], dict[int, str]]:
    """Return the term of each node of a graph, and for other terms the node for which it is an intermediate step."""
    by_node: dict[str, int] = {}
    steps: dict[int, str] = {}
    dimensions: dict[int, str] = {}
    for node in graph.nodes.values():
        first = len(terms.made)
        term = _of_node(node, graph, by_node, terms)
        steps.update(dict.fromkeys(range(first, len(terms.made)), node.name))
        if node.operation in _REDUCTIONS | {"mean", "var_mean", *SCANS.values()}:
            # A kernel does not show the dimension that it reduces. Of two reductions of one tensor, only the first is
            # recognised.
            along = " ".join(ast.unparse(argument) for argument in node.arguments[1:2])
            term = term if dimensions.setdefault(term, along) == along else terms.leaf(node.name)
        by_node[node.name] = term
    of_nodes = set(by_node.values())
    return by_node, {term: name for term, name in steps.items() if term not in of_nodes and not terms.is_number(term)}


def is_cast(node: Node) -> bool:
    """Return whether a node only changes the dtype of its input."""
    return node.operation in _CASTS


def is_part(node: Node) -> bool:
    """Return whether a node returns a part of its input."""
    return node.operation in _PARTS


def parts_read(graph: Graph) -> dict[str, frozenset[str]]:
    """Return, for each node, the parts of tensors that it is computed from. The term of a part is that of the whole."""
    parts: dict[str, frozenset[str]] = {}
    for name, node in graph.nodes.items():
        read = frozenset[str]().union(*(parts.get(use, ()) for use in node.uses))
        parts[name] = read | {name} if is_part(node) or node.operation == "getitem" else read
    return parts


def is_view(node: Node) -> bool:
    """Return whether a node computes nothing: a view, a copy, a cast, an input, or a number."""
    filled = node.operation in _FILLED or node.operation in _ZEROS | _ONES
    return not node.operation or node.operation in _VIEWS or filled


def _of_node(node: Node, graph: Graph, by_node: Mapping[str, int], terms: Terms) -> int:
    name = node.operation
    if not name:
        return terms.leaf(node.name)
    given = [_of_argument(argument, by_node, terms) for argument in node.arguments]
    parts = [term for term in given if term is not None]
    simple = _filled(node, given, terms) if name in _FILLED or name in _ZEROS | _ONES else _shaped(node, parts, terms)
    if simple is not None:
        return simple
    if name == "getitem" and parts:
        return _of_item(node, parts[0], graph, by_node, terms)
    if name == "embedding" and len(parts) > 1 and _counts_up(node, graph):
        return parts[0]  # The rows in order: a kernel reads the table itself.
    if name in _MOMENTS and parts:
        return _MOMENTS[name](node, node, parts[0], graph, terms)
    special = _SPECIAL.get(name)
    special_term = special(node, parts, terms) if special is not None else None
    return special_term if special_term is not None else _by_name(node, given, terms)


def _counts_up(node: Node, graph: Graph) -> bool:
    """Return whether the second argument of a node is 0, 1, 2, ..., apart from views."""
    index = node.arguments[1]
    while isinstance(index, ast.Name) and index.id in graph.nodes:
        source = graph.nodes[index.id]
        if source.operation == "iota":
            keywords = {name: ast.unparse(value) for name, value in source.keywords}
            return (keywords.get("start"), keywords.get("step")) == ("0", "1")
        is_same = source.operation in _VIEWS - _PARTS
        is_same = is_same or (source.operation == "add" and ast.unparse(source.arguments[1]) == "0")
        if not is_same or not source.arguments:
            return False
        index = source.arguments[0]
    return False


def _filled(node: Node, given: list[int | None], terms: Terms) -> int:
    """Return the number that fills a tensor."""
    if node.operation in _ZEROS | _ONES:
        return terms.constant(1 if node.operation in _ONES else 0)
    place = _FILLED[node.operation]
    number = given[place] if place < len(given) else None
    return terms.leaf(node.name) if number is None else number


def _shaped(node: Node, parts: list[int], terms: Terms) -> int | None:
    """Return the term of a view or of a reduction; dimensions are left out."""
    if node.operation in _VIEWS and parts:
        return parts[0]
    is_reduction = node.operation in ("var_mean", *SCANS.values()) or node.operation in _REDUCTIONS
    return terms.of(node.operation, parts[0]) if is_reduction and parts else None


def _by_name(node: Node, given: list[int | None], terms: Terms) -> int:
    """Return the term of an operation with the same name in a kernel."""
    parts = [term for term in given if term is not None]
    if len(parts) < len(given) or any(name != "alpha" for name, _ in node.keywords):
        # Arguments that are neither numbers nor nodes matter: two nodes are the same only if their whole text is.
        names = "|".join(map(re.escape, node.uses))
        rest = re.sub(rf"\b(?:{names})\b", "_", node.text) if names else node.text
        return terms.of(node.operation, *parts, terms.leaf(rest))
    return terms.of("and" if node.operation == "mul" and node.dtype == "b8" else node.operation, *parts)


def _of_argument(node: ast.expr, by_node: Mapping[str, int], terms: Terms) -> int | None:
    match node:
        case ast.Name(id=name) if name in by_node:
            return by_node[name]
        case ast.Name(id="inf"):
            return terms.constant(float("inf"))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
            return terms.constant(float("-inf"))
        case ast.Constant(value=bool() | int() | float() as value):
            return terms.constant(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return terms.constant(-value)
    return None


def _of_item(node: Node, whole: int, graph: Graph, by_node: Mapping[str, int], terms: Terms) -> int:
    """Return a part of a result. Variance and mean are computed in steps; the parts of a split are views."""
    name, parts = terms.made[whole]
    index = ast.unparse(node.arguments[1])
    source = _source(node, graph)
    if name == "var_mean":
        x = int(parts[0])
        return _MOMENTS["mean" if index == "1" else "var"](source, node, x, graph, terms)
    if source is not None and source.operation.startswith(("split", "unbind")):
        return whole
    if name == "sort":
        return terms.of(f"sort {index}", int(parts[0]))
    item = _of_list(source, index, by_node, terms) if source is not None else None
    if item is not None:
        return item
    return terms.of("getitem", whole, terms.leaf(index))


def _of_list(source: Node, index: str, by_node: Mapping[str, int], terms: Terms) -> int | None:
    """Return one result of an operation over lists: `_foreach_add([x, y], 1)` is `x + 1` at 0."""
    if not source.operation.startswith(_FOREACH) or not index.isdigit():
        return None
    place = slice(int(index), int(index) + 1)
    parts = (argument.elts[place] if isinstance(argument, ast.List) else [argument] for argument in source.arguments)
    given = [_of_argument(argument, by_node, terms) for part in parts for argument in part]
    known = [term for term in given if term is not None]
    return terms.of(source.operation.removeprefix(_FOREACH), *known) if len(known) == len(source.arguments) else None


def _source(node: Node, graph: Graph) -> Node | None:
    """Return the node that is the first argument of another node."""
    first = node.arguments[0] if node.arguments else None
    return graph.nodes.get(first.id) if isinstance(first, ast.Name) else None


def _group(given: Node | None, reduced: Node, terms: Terms) -> int:
    """Return the number of elements that are reduced to one, as a term."""
    known = given is not None and given.count and reduced.count
    return (
        terms.constant(given.count / reduced.count)
        if given is not None and known
        else terms.leaf(f"group {reduced.name}")
    )


def _mean(whole: Node | None, reduced: Node, x: int, graph: Graph, terms: Terms) -> int:
    """Return the mean of `x`, in the steps of a kernel; `reduced` has its shape."""
    given = _source(whole, graph) if whole is not None else None
    return terms.of("div", terms.of("sum", x), _group(given, reduced, terms))


def _variance(whole: Node | None, reduced: Node, x: int, graph: Graph, terms: Terms) -> int:
    """Return the variance of `x`, in the steps of a kernel."""
    difference = terms.of("sub", x, _mean(whole, reduced, x, graph, terms))
    squares = terms.of("sum", terms.of("mul", difference, difference))
    return terms.of("div", squares, _divisor(whole, reduced, graph, terms))


_MOMENTS: dict[str, Callable[[Node | None, Node, int, Graph, Terms], int]] = {"mean": _mean, "var": _variance}


def _divisor(whole: Node | None, item: Node, graph: Graph, terms: Terms) -> int:
    """Return the divisor of the sum of squares for a variance: the elements of a group, minus the correction."""
    given = _source(whole, graph) if whole is not None else None
    if whole is None or given is None or not item.count or not given.count:
        return terms.leaf(f"elements of a group of {item.name}")
    correction = next((value for name, value in whole.keywords if name == "correction"), None)
    less = (
        correction.value if isinstance(correction, ast.Constant) and isinstance(correction.value, (int, float)) else 1
    )
    return terms.constant(given.count / item.count - less)


def _clamp(node: Node, parts: list[int], terms: Terms) -> int | None:
    bounds = [_of_argument(argument, {}, terms) for argument in node.arguments[1:]]
    clamped = parts[0]
    for operation, bound in zip(("maximum", "minimum"), bounds):
        clamped = terms.of(operation, clamped, bound) if bound is not None else clamped
    return clamped if len(bounds) == 2 else None


def _with_alpha(node: Node, parts: list[int], terms: Terms) -> int | None:
    alpha = next((value for name, value in node.keywords if name == "alpha"), None)
    factor = _of_argument(alpha, {}, terms) if alpha is not None else None
    if factor is None or len(parts) != 2:
        return None
    return terms.of(node.operation, parts[0], terms.of("mul", parts[1], factor))


def _looked_up(node: Node, parts: list[int], terms: Terms) -> int | None:
    if node.operation == "embedding":
        return terms.of("indexed", *parts[:2]) if len(parts) > 1 else None
    listed = node.arguments[1] if len(node.arguments) > 1 else None
    return None if not isinstance(listed, ast.List) else terms.of("unknown_index", parts[0], terms.leaf(node.name))


def _placed(node: Node, parts: list[int], terms: Terms) -> int | None:
    """Return the value written to a part of a tensor of zeros: `slice_scatter(zeros, y, 1, 0, -1)`."""
    if node.operation == "constant_pad_nd":
        fill = _of_argument(node.arguments[2], {}, terms) if len(node.arguments) > 2 else terms.constant(0)
        return terms.of(PLACED, parts[0]) if fill is not None and terms.value_of(fill) == 0.0 else None
    is_zero = len(parts) > 1 and terms.value_of(parts[0]) == 0.0
    return terms.of(PLACED, parts[1]) if is_zero else None


def _gated(node: Node, parts: list[int], terms: Terms) -> int | None:
    """before: `glu(x)`, of the two halves of `x`; the term leaves this out, like all views."""
    return terms.of("mul", parts[0], terms.of("sigmoid", parts[0]))


_SPECIAL: dict[str, Callable[[Node, list[int], Terms], int | None]] = {
    "clamp": _clamp,
    "add": _with_alpha,
    "sub": _with_alpha,
    "embedding": _looked_up,
    "index": _looked_up,
    "glu": _gated,
    **dict.fromkeys(("slice_scatter", "select_scatter", "constant_pad_nd"), _placed),
}
