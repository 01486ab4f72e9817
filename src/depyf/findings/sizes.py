"""Find out from the guards of a function's entries whether a mark on a dimension would avoid a recompile.

    def loss(x, y): return (x - y).sum()

    entry 0: x has size (8, 2), y has size (8, 2)
    entry 1: x has size (any, 2), y has size (any, 2), and `L["y"].size()[0] == L["x"].size()[0]`

A mark on `x` alone raises an exception in the first call: `y` has 8 rows there, so `x` can have no other number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping

from depyf.findings.nearest import PARAMETERS
from depyf.model.guard_failure import GuardFailure
from depyf.model.run import Compile, Function, GuardSet
from depyf.model.spelling import spelled
from depyf.model.syntax import nodes_below, parsed

SPECIALIZATION = "symbolic_shape_specialization"
"""The kind of torch's record of a symbol that it replaced by a number."""
DYNAMIC = "compile with `dynamic=True`"
TIED = DYNAMIC + ": torch raises an exception if only `{subject}` is marked, because {other} must have the same size"
ALWAYS_PAD = "call `{call}` in every call, without `if {test}`: a pad of 0 changes nothing; and " + DYNAMIC
BUFFER = (
    "set `torch._dynamo.config.force_parameter_static_shapes = False` before the first call: torch ignores a mark on a "
    "buffer"
)
PARAMETER_OF_PART = (
    "set `torch._dynamo.config.force_parameter_static_shapes = False` and "
    "`torch._dynamo.config.force_nn_module_property_static_shapes = False` before the first call: torch keeps the "
    "parameters of a module's parts static for both"
)
"""For a parameter such as `self.first.bias`, of which either switch alone makes no size dynamic."""
_BUFFERS = "_buffers"
_SIZE_OF = re.compile(r"(?P<source>[LG]\[[^\s()]*?)\.size\(\)\[(?P<dimension>\d+)\]")
_STRIDE_OF = re.compile(r"[LG]\[[^\s()]*?\.stride\(\)\[\d+\]")
_ARITHMETIC = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Constant, ast.Call, ast.Name,
)  # fmt: skip
_FUNCTIONS = {"min": min, "max": max}

MOST_TRIED = 16
"""How many numbers above the double of a size are tried, to see whether the relations of an entry hold for another."""
_Sizes = Mapping[str, tuple[object, ...]]
"""The sizes that an entry expects of each tensor, by torch's expression for it: None for any size."""


def fix_without_mark(root: Function, function: Function, failure: GuardFailure) -> str | None:
    """Return the fix for a size of which a mark avoids no recompile, or raises.

    Args:
        root: the function whose source has the line; for a resume function, the function that it resumes.
        function: the function that was compiled again.
        failure: the guard that failed on a size.

    Returns:
        The fix; "" if no fix is known; None if a mark may avoid a recompile.
    """
    if _BUFFERS in failure.source:
        return BUFFER
    dimensions = [dimension for dimension, _, _ in failure.changed_dimensions]
    others = list(dict.fromkeys(_tied(function, failure.source, dimensions)))
    if others:
        names = " and ".join(f"`{name}`" for name in others[:2])
        return TIED.format(subject=failure.subject, other=names)
    if _is_specialized(function, failure.source, dimensions) or not _serves_first(function, failure.source, dimensions):
        return always_padded(root.source)
    return None


def _tied(function: Function, source: str, dimensions: Collection[int]) -> Iterator[str]:
    """Yield the other values of a function that must have the same size in a dimension, as the user would write them.

    An entry either compares the two sizes, or it has one number for both although torch had made a symbol of the first.
    """
    for compiled in function.compiles:
        expected = _sizes(compiled)
        for text in _conditions(compiled):
            sides = text.split(" == ")
            related = {match["source"]: int(match["dimension"]) for match in _SIZE_OF.finditer(text)}
            if len(sides) == 2 and related.get(source) in dimensions:
                yield from (spelled(other) for other in related if other != source)
        numbers = _specialized(compiled, expected.get(source, ()), dimensions)
        yield from (
            spelled(other)
            for other, size in expected.items()
            if other != source and PARAMETERS not in other and numbers & set(size)
        )


def _is_specialized(function: Function, source: str, dimensions: Collection[int]) -> bool:
    """Return whether an entry has a number for a dimension although torch had made a symbol of it."""
    return any(_specialized(compiled, _sizes(compiled).get(source, ()), dimensions) for compiled in function.compiles)


def _specialized(compiled: Compile, size: tuple[object, ...], dimensions: Collection[int]) -> set[object]:
    """Return the numbers that torch took for symbols, of some dimensions of a size."""
    facts = {fact.detail for fact in compiled.shapes if fact.kind == SPECIALIZATION}
    numbers = (size[dimension] for dimension in dimensions if dimension < len(size))
    return {number for number in numbers if str(number) in facts and number not in (0, 1)}


def _serves_first(function: Function, source: str, dimensions: Collection[int]) -> bool:
    """Return whether an entry for any size would have served the first call, or none for any size is known.

    If none would, the first call needs an entry of its own, marked or not.
    """
    first = _sizes(function.compiles[0])
    dynamic = [
        compiled
        for compiled in function.compiles[1:]
        if (size := _sizes(compiled).get(source)) and all(size[number : number + 1] == (None,) for number in dimensions)
    ]
    return not dynamic or any(all(_holds(text, first) for text in _conditions(entry)) for entry in dynamic)


def is_for_one_size(compiled: Compile, source: str, dimension: int, size: int) -> bool:
    """Return whether the relations of an entry hold for one number alone, as `n % 8 == 0` and `n // 8 == 1` do.

    Args:
        compiled: the compile of the entry.
        source: torch's expression for the tensor.
        dimension: the dimension that the entry has a symbol for.
        size: its number in the call that made the entry.
    """
    conditions = [text for text in _conditions(compiled) if f"{source}.size()[{dimension}]" in text and "==" in text]
    unknown = (None,) * dimension
    others = (number for number in range(2, 2 * size + MOST_TRIED) if number != size) if conditions else ()
    return bool(conditions) and not any(
        all(_holds(text, {source: (*unknown, number)}) for text in conditions) for number in others
    )


def _conditions(compiled: Compile) -> Iterator[str]:
    """Yield the relations between sizes that an entry requires."""
    guards = compiled.guards.guards if isinstance(compiled.guards, GuardSet) else ()
    return (guard.clause for guard in guards if ".size()" in guard.clause)


def _holds(condition: str, expected: _Sizes) -> bool:
    """Return whether a relation holds for sizes. One that has other values, or sizes that are unknown, may hold.

    >>> _holds('(L["x"].size()[0] // 8) == 1', {'L["x"]': (5, 2)})
    False
    """

    def number(match: re.Match[str]) -> str:
        size, dimension = expected.get(match["source"], ()), int(match["dimension"])
        return str(size[dimension]) if dimension < len(size) and size[dimension] is not None else "unknown"

    text = _STRIDE_OF.sub("unknown", _SIZE_OF.sub(number, condition))
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return True
    is_known = all(
        isinstance(node, _ARITHMETIC) and not (isinstance(node, ast.Name) and node.id not in _FUNCTIONS)
        for node in nodes_below(tree.body)
    )
    if not is_known:
        return True
    try:
        return bool(eval(compile(tree, "<sizes>", "eval"), {"__builtins__": {}, **_FUNCTIONS}))
    except (ArithmeticError, TypeError):
        return False


def _sizes(compiled: Compile) -> dict[str, tuple[object, ...]]:
    """Return the sizes that an entry expects of its tensors."""
    guards = compiled.guards.guards if isinstance(compiled.guards, GuardSet) else ()
    sizes = {guard.source: keywords(guard.clause).get("size") for guard in guards if guard.kind == "TENSOR_MATCH"}
    return {source: size for source, size in sizes.items() if isinstance(size, tuple)}


def always_padded(source: str) -> str:
    """Return the fix for a branch that pads only where the pad is not 0, or "" if the source has none.

    if missing:
        x = torch.nn.functional.pad(x, (0, missing))
    """
    for node in nodes_below(parsed(source)):
        match node:
            case ast.If(
                test=ast.Name(id=test),
                body=[ast.Assign(value=ast.Call(func=ast.Attribute(attr="pad") as called) as call)],
            ) if not node.orelse and any(isinstance(part, ast.Name) and part.id == test for part in nodes_below(call)):
                return ALWAYS_PAD.format(call=ast.unparse(called), test=test)
    return ""


def keywords(clause: str) -> dict[str, object]:
    """Return the keyword arguments of a guard that are literals."""
    try:
        call = ast.parse(clause, mode="eval").body
    except SyntaxError:
        return {}
    literals: dict[str, object] = {}
    for keyword in call.keywords if isinstance(call, ast.Call) else ():
        try:
            literals[keyword.arg or ""] = ast.literal_eval(keyword.value)
        except ValueError:
            continue
    return literals
