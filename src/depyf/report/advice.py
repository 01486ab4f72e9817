"""What can be done about a recompile: torch's own hint where it gives one, else by what was not as expected."""

from __future__ import annotations

import ast
import re

from depyf.report.refused import Refused

_HINT = re.compile(r"\(HINT: (?P<hint>.*?)\)\s*$", re.DOTALL)
_FLAG = re.compile(r"[a-z_ ]+$")
"""A flag of the state around the call, which is no value of the program: `grad_mode`."""
_NAME = re.compile(r"L\[['\"](\w+)['\"]\]$")

OF_ASPECT = {
    "dtype": "keep to one dtype: convert the tensor before the call",
    "device": "keep to one device: move the tensor before the call",
    "requires_grad": "call it with the same `requires_grad`, or compile a function for each",
    "stride": "make the tensor contiguous before the call, or mark the dimension as dynamic",
    "dispatch keys": "call it under the same modes (`inference_mode`, `vmap`, autocast)",
    "type": "call it with one type, or compile a function for each",
    "length": "keep the length, or hand over a tensor with a dynamic dimension",
}
OF_NUMBERS = "hand it over as a tensor, or keep it: a number is a constant of the graph until it has changed once"
OF_FLOATS = "hand it over as a tensor: torch makes a graph for each value of a float (`config.specialize_float`)"
OF_STRINGS = "keep it, or hand over what depends on it: a string is a constant of the graph"
OF_STATE = (
    "call it in one state (gradients, autocast, default dtype, number of threads), or compile a function for each"
)
OF_OBJECTS = (
    "use one object for all calls: a function, lambda or module made anew for each call is another one each time"
)


def advice(found: Refused) -> str:
    """Return a hint what to do, empty where there is none."""
    hint = _HINT.search(found.text)
    if hint is not None:
        return f"torch: {hint['hint']}"
    if found.aspect == "size":
        return _of_sizes(found)
    if found.aspect in OF_ASPECT:
        return OF_ASPECT[found.aspect]
    if _FLAG.match(found.source):
        return OF_STATE
    return _of_values(found) if found.source else ""


def _of_sizes(found: Refused) -> str:
    expected, actual = _literal(found.expected), _literal(found.actual)
    if not isinstance(expected, tuple) or not isinstance(actual, tuple):
        return "mark the dimension that changes as dynamic, or compile with `dynamic=True`"
    if len(expected) != len(actual):
        return "call it with tensors of one number of dimensions, or compile a function for each"
    changed = [index for index, (one, other) in enumerate(zip(expected, actual, strict=True)) if one != other]
    which = str(changed[0]) if len(changed) == 1 else str(changed)
    name = _NAME.search(found.source)
    tensor = name[1] if name else "the_tensor"
    return (
        f"`torch._dynamo.mark_dynamic({tensor}, {which})` before the first call, or `torch.compile(..., dynamic=True)`"
    )


def _of_values(found: Refused) -> str:
    values = _literal(found.expected), _literal(found.actual)
    if any(isinstance(value, bool) or value is None for value in values):
        return "compile a function for each value, or decide it outside of the compiled function"
    if all(isinstance(value, float) for value in values):
        return OF_FLOATS
    if all(isinstance(value, (int, float)) for value in values):
        return OF_NUMBERS
    if any(isinstance(value, str) for value in values):
        return OF_STRINGS
    return OF_OBJECTS if values == (..., ...) else ""


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ...
