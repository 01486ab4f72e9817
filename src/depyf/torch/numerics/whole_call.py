"""Compare a whole call with the plain Python function: results, changed arguments, changed modules and gradients.

The graphs of a function can all be right, and the function still be compiled wrongly: Dynamo can read the program in
another way than Python, and a backend can lose a change of an argument.
"""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, TypeGuard

import torch
from torch import Tensor
from torch.utils import _pytree

from depyf.bytecode.records import dataclass
from depyf.torch.numerics.comparing import Tolerance, deviation
from depyf.torch.numerics.python_state import PythonState, Sketch
from depyf.torch.numerics.report import Comparison, Mismatch, one_line

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_SCALE = 1e-3
"""The allowed distance of a whole compiled call, relative to the largest value of a result. Rounding errors add up from
graph to graph; the graphs themselves are compared with the tolerance of their dtype."""
_ROUNDINGS = 64.0
"""The allowed distance in units of the change that one rounding of each argument and parameter causes. The gradient of
a bias before a batch normalisation is zero up to such changes, whatever its scale."""


@dataclass(slots=True)
class Outcome:
    """The result of one call: by a name for each value, such as `result[0]`, `args[1]` or `gradient of args[0]`."""

    values: dict[str, object] = field(default_factory=dict)
    structure: str = ""
    error: str = ""


class State:
    """The modules, tensors and Python objects that a function can reach, to be put back after a call."""

    def __init__(self, function: Callable[..., Any], args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        """Copy the state of the modules and tensors that `function` and its arguments refer to."""
        self._modules = list(_modules(function, args, kwargs))
        self._attributes = [dict(module.__dict__) for module in self._modules]
        self._parts = [
            {name: dict(part) for name, part in module.__dict__.items() if name in ("_parameters", "_buffers")}
            for module in self._modules
        ]
        tensors = [tensor for module in self._modules for tensor in (*module.parameters(), *module.buffers())]
        self._tensors = {id(tensor): (tensor, tensor.detach().clone()) for tensor in tensors}
        self.python = PythonState(_roots(function, self._modules))

    def restore(self) -> None:
        """Put everything back, in place."""
        self.python.restore()
        for module, attributes, parts in zip(self._modules, self._attributes, self._parts, strict=True):
            module.__dict__.clear()
            module.__dict__.update(attributes)
            for name, part in parts.items():
                module.__dict__[name].clear()
                module.__dict__[name].update(part)
        with torch.no_grad():
            for tensor, copy in self._tensors.values():
                if tensor.shape == copy.shape:
                    tensor.copy_(copy)

    def named_tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the parameters and buffers, each once, with a name."""
        seen: set[int] = set()
        for module in self._modules:
            for name, tensor in (*module.named_parameters(), *module.named_buffers()):
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield name, tensor


def _modules(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> Iterator[torch.nn.Module]:
    """Yield the modules that a call can reach: the function itself, its owner, closure, globals, and its arguments."""
    reached = [function, *(value for _, value in _captured(function)), *_pytree.tree_leaves((args, kwargs))]
    seen: set[int] = set()
    for value in reached:
        for module in value.modules() if isinstance(value, torch.nn.Module) else ():
            if id(module) not in seen:
                seen.add(id(module))
                yield module


def _captured(function: Callable[..., Any]) -> Iterator[tuple[str, object]]:
    """Yield what a function refers to, by name: its owner, its closure, and the globals that it names."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    scope = getattr(function, "__globals__", {})
    yield "self", getattr(function, "__self__", None)
    if isinstance(code, types.CodeType):
        cells = zip(code.co_freevars, getattr(function, "__closure__", None) or ())
        yield from ((name, cell.cell_contents) for name, cell in cells if _is_filled(cell))
        yield from ((name, scope[name]) for name in code.co_names if name in scope)


def _roots(function: Callable[..., Any], modules: list[torch.nn.Module]) -> Iterator[tuple[str, object]]:
    """Yield the Python objects from which a call's changes are found: arguments are copied for each call."""
    skipped = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
    yield from ((name, value) for name, value in _captured(function) if not isinstance(value, skipped))
    yield from ((type(module).__name__, module) for module in modules)


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def copied_arguments(args: tuple[object, ...], kwargs: Mapping[str, object]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return copies of arguments: one for each tensor, with memory of its own; other values are the same objects."""
    copies: dict[int, Tensor] = {}

    def copy(value: object) -> object:
        if not isinstance(value, Tensor) or isinstance(value, torch.nn.Parameter):
            return value
        if id(value) not in copies:
            copies[id(value)] = value.detach().clone().requires_grad_(value.requires_grad)
        return copies[id(value)]

    positional, named = _pytree.tree_map(copy, (tuple(args), dict(kwargs)))
    return positional, named


def outcome_of(
    function: Callable[..., Any],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    state: State,
    *,
    loss: Callable[[Any], Tensor] | None,
    backward: bool,
    rounded: bool = False,
) -> Outcome:
    """Call a function on copies of its arguments, and return everything that it computed and changed.

    Args:
        function: the function to call.
        args: its positional arguments.
        kwargs: its keyword arguments.
        state: the parameters and buffers, which are restored before the call.
        loss: returns the scalar for the backward from the result; None for the sum of the results.
        backward: whether to compute gradients.
        rounded: change each floating-point argument, parameter and buffer by one rounding, up or down.
    """
    positional, named = copied_arguments(args, kwargs)
    state.restore()
    if rounded:
        _round(
            (
                *(tensor for _, tensor in _named_leaves(positional, named)),
                *(tensor for _, tensor in state.named_tensors()),
            )
        )
    torch.manual_seed(0)
    outcome = Outcome()
    try:
        result = function(*positional, **named)
    except Exception as error:  # noqa: BLE001 - the user's function may raise anything; both runs are compared
        outcome.error = one_line(error)
        return outcome
    leaves, structure = _pytree.tree_flatten(result)
    outcome.structure = str(structure)
    names = [f"result[{index}]" for index in range(len(leaves))] if len(leaves) > 1 else ["the result"]
    outcome.values.update(zip(names, leaves))
    sources = _named_leaves(positional, named)
    if backward:
        outcome.values.update(_gradients(leaves, result, sources, state, loss))
    outcome.values.update((f"{name} after the call", value) for name, value in sources)
    outcome.values.update((f"`{name}` after the call", tensor) for name, tensor in state.named_tensors())
    outcome.values.update((f"`{name}` after the call", value) for name, value in state.python.changed())
    outcome.values = {name: _kept(value) for name, value in outcome.values.items()}
    return outcome


def _round(tensors: Iterable[Tensor]) -> None:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for tensor in tensors:
            if tensor.is_floating_point() and tensor.dtype in _ROUNDED and tensor.layout is torch.strided:
                signs = torch.randint(0, 2, tensor.shape, generator=generator) * 2 - 1
                tensor.mul_(1 + signs.to(tensor.device, tensor.dtype) * torch.finfo(tensor.dtype).eps)


_ROUNDED = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def _named_leaves(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[tuple[str, Tensor]]:
    pairs = [(f"args[{index}]", value) for index, value in enumerate(args)] + list(kwargs.items())
    leaves = ((name, path, leaf) for name, value in pairs for path, leaf in _pytree.tree_leaves_with_path(value))
    return [(f"{name}{_pytree.keystr(path)}", leaf) for name, path, leaf in leaves if isinstance(leaf, Tensor)]


def _kept(value: object) -> object:
    return value.detach().clone() if isinstance(value, Tensor) else value


def _gradients(
    leaves: list[Any],
    result: object,
    sources: list[tuple[str, Tensor]],
    state: State,
    loss: Callable[[Any], Tensor] | None,
) -> Iterator[tuple[str, object]]:
    """Yield the gradient of each argument and parameter, from the sum of all results or from a loss."""
    tensors = (*sources, *state.named_tensors())
    wanted = [(name, tensor) for name, tensor in tensors if tensor.requires_grad and tensor.is_leaf]
    parts = [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.requires_grad]
    if not wanted or (loss is None and not parts):
        return
    real = [torch.view_as_real(part) if part.is_complex() else part for part in parts]
    total = loss(result) if loss is not None else torch.stack([part.sum().double() for part in real]).sum()
    if total.requires_grad:
        gradients = torch.autograd.grad(total, [tensor for _, tensor in wanted], allow_unused=True)
        yield from ((f"gradient of {name}", gradient) for (name, _), gradient in zip(wanted, gradients, strict=True))


def compared(
    compiled: Outcome, plain: Outcome, again: Outcome, rounded: Outcome, *, state_is_whole: bool = True
) -> Comparison:
    """Compare a compiled call with the plain function.

    Args:
        compiled: the compiled call.
        plain: the call of the plain function.
        again: a second call of the plain function, to find out what differs by itself, such as a time.
        rounded: a call of the plain function on values changed by one rounding, to find out what rounding does to it.
        state_is_whole: whether all Python objects that the function reaches were looked at.
    """
    comparison = Comparison()
    if plain.error or compiled.error:
        if plain.error != compiled.error:
            words = (compiled.error or "returns", plain.error or "returns")
            comparison.mismatches.append(Mismatch("the call", *words))
        return comparison
    if plain.structure != compiled.structure:
        comparison.mismatches.append(Mismatch("the structure of the result", compiled.structure, plain.structure))
        return comparison
    unchanged = Sketch("unchanged")
    for name in [*plain.values, *(name for name in compiled.values if name not in plain.values)]:
        expected, actual = (outcome.values.get(name, unchanged) for outcome in (plain, compiled))
        if not _is_comparable(expected):
            comparison.omitted.append(f"{name}: {type(expected).__qualname__} cannot be compared")
        elif not _equal(again.values.get(name, unchanged), expected, 0.0):
            comparison.omitted.append(f"{name} differs between two calls of the plain function")
        elif _equal(actual, expected, _allowed(expected)):
            comparison.compared.append(name)
        elif _equal(actual, expected, _ROUNDINGS * _change(expected, rounded.values.get(name))):
            shown = f"{_shown(actual)}, plain Python {_shown(expected)}"
            comparison.omitted.append(f"{name}: compiled {shown}; one rounding of the arguments moves it as far")
        else:
            comparison.compared.append(name)
            comparison.mismatches.append(Mismatch(name, _shown(actual), _shown(expected)))
    if not state_is_whole:
        comparison.omitted.append("some Python objects: too many are reached, or torch cannot write their tensors")
    return comparison


def _is_comparable(value: object) -> bool:
    if isinstance(value, Tensor):
        return value.layout is torch.strided and not value.is_meta and not value.is_quantized
    return isinstance(value, _PLAIN) or hasattr(value, "__array__")


def _allowed(expected: object) -> float:
    """Return the allowed distance of a result from that of the plain function."""
    if not _is_inexact(expected):
        return 0.0
    _, absolute = Tolerance().of(expected.dtype)
    return max(absolute, _SCALE * _largest(expected))


def _change(expected: object, rounded: object) -> float:
    """Return how far one rounding of the arguments moves a result of the plain function."""
    if not _is_inexact(expected) or not isinstance(rounded, Tensor) or rounded.shape != expected.shape:
        return 0.0
    return _largest((rounded.to(torch.complex128) - expected.to(torch.complex128)).abs())


def _is_inexact(value: object) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def _equal(actual: object, expected: object, allowed: float) -> bool:
    if isinstance(expected, Tensor):
        return isinstance(actual, Tensor) and _equal_tensors(actual, expected, allowed)
    if hasattr(expected, "__array__"):
        return hasattr(actual, "__array__") and _equal_tensors(
            torch.as_tensor(actual), torch.as_tensor(expected), allowed
        )
    if type(actual) is not type(expected):
        return False
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(actual, expected, rel_tol=_SCALE) or (math.isnan(actual) and math.isnan(expected))
    return actual == expected


def _equal_tensors(actual: Tensor, expected: Tensor, allowed: float) -> bool:
    is_alike = actual.shape == expected.shape and actual.dtype == expected.dtype
    return is_alike and deviation(actual, expected, Tolerance(0.0, allowed)) is None


def _largest(tensor: Tensor) -> float:
    finite = tensor.detach().abs().double() if tensor.numel() else tensor.new_zeros(1).double()
    finite = finite[torch.isfinite(finite)]
    return float(finite.max()) if finite.numel() else 0.0


def _shown(value: object) -> str:
    """Return a short text for a value: of a large tensor its dtype, its shape and its first number."""
    if not isinstance(value, Tensor):
        return value[:80] if isinstance(value, Sketch) else repr(value)[:80]
    if value.numel() == 1:
        return f"{value.item():.9g}" if value.is_floating_point() else str(value.item())
    first = f", first {value.flatten()[0].item():.6g}" if value.numel() and not value.is_complex() else ""
    return f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}{first}"
