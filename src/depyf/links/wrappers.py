"""Link the lines of AOTAutograd's wrappers, which call a graph and name its inputs and outputs by number.

before:
    all_outs = _compiled_fn_(args_)
    orig_inputs[1].copy_(updated_inputs[0])
    _mark_dynamic_(ret_outs[0], _dyn_dims_0)
after: the first line is linked to every line of the graph, the second to those that use its second input, the third to
the line that produces its first output
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from depyf.bytecode.records import dataclass
from depyf.links.origins import NOWHERE, Links, Origins, joined
from depyf.links.transformed import GraphPlaces

NOTE = "AOTAutograd writes it for every graph, and torch links no line of yours to it"

RENUMBERING = frozenset({"AOT_dedup_wrapper", "AOT_synthetic_base_wrapper", "AOT_subclass_wrapper"})
"""Stages around all others that pass on other inputs than they receive. Code inside them has new numbers."""

FORWARDS = frozenset({"_compiled_fn_", "_compiled_fw_", "compiled_fn"})
BACKWARDS = frozenset({"_impl_"})
"""The names by which a wrapper calls the graph of the backward."""
_INPUTS = frozenset({"args", "args_", "orig_inputs"})
_OUTPUTS = frozenset({"fw_outs", "ret_outs"})
_GRADIENTS = "flat_args"


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The contents of a wrapper: the graph, the lines of its backward, and whether the inputs keep their order."""

    graph: GraphPlaces
    backward: Origins = NOWHERE
    is_in_order: bool = True


def wrapper_links(text: str, wrapped: Wrapped) -> Links:
    """Return the origin of each line of a wrapper."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return Links({}, NOTE)
    gradients = wrapped.graph.outputs if _counted(tree) == len(wrapped.graph.outputs) else ()
    lines: dict[int, Origins] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and (origins := _of_expression(node, wrapped, gradients)):
            lines[node.lineno] = joined((lines.get(node.lineno, NOWHERE), origins))
    return Links(lines, NOTE)


def _of_expression(node: ast.expr, wrapped: Wrapped, gradients: tuple[Origins, ...]) -> Origins:
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in FORWARDS:
            return wrapped.graph.all
        case ast.Call(func=ast.Name(id=name)) if name in BACKWARDS:
            return wrapped.backward
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(place))):
            known = wrapped.graph.inputs if name in _INPUTS and wrapped.is_in_order else ()
            known = wrapped.graph.outputs if name in _OUTPUTS else gradients if name == _GRADIENTS else known
            return known[place] if 0 <= place < len(known) else NOWHERE
    return NOWHERE


def _counted(tree: ast.Module) -> int:
    """Return how many gradients the wrapper expects, or -1 if unknown; only those of outputs if the numbers match.

    before: `if len(flat_args) != 2:`
    """
    return next(_counts(tree), -1)


def _counts(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        match node:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="len"), args=[ast.Name(id="flat_args")]),
                ops=[ast.NotEq()],
                comparators=[ast.Constant(value=int(count))],
            ):
                yield count
