"""Record what compiled code returns, and compare two records."""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch._dynamo.utils import counters
from torch.utils import _pytree as pytree

MOST_BYTES = 256 * 2**20
"""The most bytes of tensors that a record keeps. Later results are counted as not compared."""


class Enough(BaseException):
    """Raised after the last call that is recorded, if the run is to stop there."""


@dataclass
class Recorder:
    """Records the outermost calls of everything that `torch.compile` returns: results and changed arguments.

    At the end it adds the parameters, buffers and gradients of the modules that took part.
    """

    most: int
    stops: bool = False
    calls: list[list[Any]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    compiling: list[int] = field(default_factory=list)
    left_out: int = 0
    entries: list[str] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    _modules: list[nn.Module] = field(default_factory=list)
    _leaves: list[torch.Tensor] = field(default_factory=list)
    _bytes: int = 0
    _is_inside: bool = False

    def install(self) -> None:
        """Replace `torch.compile`."""
        original = torch.compile

        @functools.wraps(original)
        def recorded(model: Any = None, **options: Any) -> Any:
            if model is None:
                return lambda given: self._watched(original(given, **options), given)
            return self._watched(original(model, **options), model)

        torch.compile = recorded

    def watched_module(self, model: nn.Module) -> nn.Module:
        """Record the calls of a module that is not compiled itself, and return it."""
        watched: nn.Module = self._watched(model, model)
        return watched

    def _watched(self, compiled: Any, model: Any) -> Any:
        code = getattr(getattr(model, "forward", model), "__code__", None)
        if code is not None:
            self.entries.append(f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}")
        if isinstance(compiled, nn.Module):
            self._modules.append(model)
            compiled.forward = self._wrapped(compiled.forward)
            return compiled
        owner = getattr(model, "__self__", None)
        holders = [owner, *getattr(model, "__globals__", {}).values(), *_closed_over(model)]
        self._modules += [holder for holder in holders if isinstance(holder, nn.Module)]
        return self._wrapped(compiled)

    def _wrapped(self, compiled: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(compiled)
        def call(*args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling() or self._is_inside:
                return compiled(*args, **kwargs)
            self._is_inside = True
            frames, began = counters["frames"]["total"], time.perf_counter()
            try:
                result = compiled(*args, **kwargs)
            finally:
                self._is_inside = False
            if counters["frames"]["total"] != frames:
                self.compiling.append(len(self.seconds))
            self.seconds.append(time.perf_counter() - began)
            self._keep([result, args, kwargs])
            return result

        return call

    def _keep(self, values: list[Any]) -> None:
        if len(self.calls) < self.most and self._bytes < MOST_BYTES:
            leaves = pytree.tree_leaves(values)
            self._leaves += [leave for leave in leaves if isinstance(leave, torch.Tensor) and _is_leaf(leave)]
            self.calls.append([self._copy(leave) for leave in leaves])
            self.results.append(len(pytree.tree_leaves(values[0])))
        else:
            self.left_out += 1
        if self.stops and len(self.calls) >= self.most:
            raise Enough

    def _copy(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if type(value) not in (torch.Tensor, nn.Parameter):
                return f"a {type(value).__name__}"
            self._bytes += value.numel() * value.element_size()
            return value.detach().cpu().clone()
        if isinstance(value, (str, bytes, int, float, complex, bool, type(None))):
            return value
        return f"a {type(value).__name__}"

    def write(self, path: Path) -> None:
        """Write the record."""
        state: dict[str, Any] = {}
        for number, module in enumerate(dict.fromkeys(self._modules)):
            for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
                state[f"{number}.{name}"] = self._copy(tensor)
                if tensor.grad is not None:
                    state[f"{number}.{name}.grad"] = self._copy(tensor.grad)
        for number, leaf in enumerate(self._leaves):
            if leaf.grad is not None:
                state[f"argument {number}.grad"] = self._copy(leaf.grad)
        record = {"calls": self.calls, "state": state, "seconds": self.seconds, "left_out": self.left_out}
        torch.save(record | {"entries": self.entries, "results": self.results, "compiling": self.compiling}, path)


def _is_leaf(tensor: torch.Tensor) -> bool:
    return tensor.is_leaf and tensor.requires_grad and not isinstance(tensor, nn.Parameter)


def _closed_over(function: Any) -> list[Any]:
    contents = []
    for cell in getattr(function, "__closure__", None) or ():
        try:
            contents.append(cell.cell_contents)
        except ValueError:
            continue
    return contents


@dataclass(frozen=True)
class Record:
    """The results of the compiled code of a run.

    calls: the results of each call, then its arguments after the call.
    seconds: the time of each outermost call, of the calls that were not recorded as well.
    compiling: the numbers, from 0, of the calls in which Dynamo compiled or tried to, by torch's own counter.
    left_out: the number of calls that were not recorded.
    entries: `FILE:LINE` of each function that was given to `torch.compile`, with the name of the file alone.
    results: how many values of each call are results; all of a call that is not listed.
    """

    calls: list[list[Any]] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    left_out: int = 0
    entries: list[str] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    compiling: list[int] = field(default_factory=list)

    @property
    def steady(self) -> dict[int, float]:
        """Return the seconds of the calls in the second half, by their number, without those that compiled."""
        numbers = set(range(len(self.seconds) // 2, len(self.seconds))).difference(self.compiling)
        return {number: self.seconds[number] for number in sorted(numbers)}

    def result(self, number: int) -> dict[Any, Any]:
        """Return the results of a call by their number."""
        call = self.calls[number]
        return dict(enumerate(call[: self.results[number]] if number < len(self.results) else call))

    def arguments(self, number: int) -> list[Any]:
        """Return the arguments of a call, as they were after it. A tensor of one number is that number."""
        call = self.calls[number][self.results[number] :] if number < len(self.results) else []
        return [value.item() if isinstance(value, torch.Tensor) and not value.dim() else value for value in call]


def read_record(path: Path) -> Record | None:
    """Return the record that a run has written, or None if it wrote none."""
    if not path.is_file():
        return None
    return Record(**torch.load(path, weights_only=True))


@dataclass(frozen=True)
class Verdict:
    """The comparison of two records: equal in every bit, equal within torch's tolerances, or the first difference."""

    is_equal: bool
    is_bitwise: bool = False
    difference: str = ""
    compared: int = 0


def compare(ours: Record | None, theirs: Record | None) -> Verdict:
    """Compare two records, call by call."""
    if ours is None or theirs is None:
        return Verdict(False, difference="one of the runs left no results")
    if len(ours.calls) != len(theirs.calls):
        return Verdict(False, difference=f"{len(ours.calls)} calls, not {len(theirs.calls)}")
    is_bitwise = True
    for number in range(len(ours.calls)):
        difference, same = _compared(ours.result(number), theirs.result(number))
        is_bitwise &= same
        if not difference:
            # An edit may pass a number as a tensor, or one more argument.
            pairs = list(zip(ours.arguments(number), theirs.arguments(number), strict=False))
            difference, same = _compared(*(dict(enumerate(pair[at] for pair in pairs)) for at in (0, 1)))
            difference = difference and f"argument: {difference}"
            is_bitwise &= same
        if difference:
            return Verdict(False, difference=f"call {number + 1}: {difference}", compared=number)
    difference, same = _compared(ours.state, theirs.state)
    if difference:
        return Verdict(False, difference=f"at the end: {difference}", compared=len(ours.calls))
    return Verdict(True, is_bitwise and same, compared=len(ours.calls))


def _compared(mine: dict[Any, Any], other: dict[Any, Any]) -> tuple[str, bool]:
    """Return the first difference, or "", and whether all bits are the same."""
    if mine.keys() != other.keys():
        return f"{len(mine)} values, not {len(other)}", False
    is_bitwise = True
    for name, value in mine.items():
        right = other[name]
        if isinstance(value, torch.Tensor) and isinstance(right, torch.Tensor):
            if value.dtype != right.dtype or value.shape != right.shape:
                said = [f"{tensor.dtype} of {tuple(tensor.shape)}" for tensor in (value, right)]
                return f"value {name} is {said[0]}, not {said[1]}", False
            if not torch.equal(value.nan_to_num(), right.nan_to_num()) or not _same_nan(value, right):
                is_bitwise = False
                try:
                    torch.testing.assert_close(value, right, equal_nan=True)
                except AssertionError as error:
                    return f"value {name}: {str(error).splitlines()[0]}", False
        elif not _is_same(value, right):
            return f"value {name} is {value!r}, not {right!r}"[:200], False
    return "", is_bitwise


def _same_nan(left: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(torch.equal(left.isnan(), other.isnan()))


def _is_same(left: Any, other: Any) -> bool:
    if isinstance(left, float) and isinstance(other, float):
        return math.isclose(left, other, rel_tol=1e-5, abs_tol=1e-8) or (math.isnan(left) and math.isnan(other))
    return type(left) is type(other) and bool(left == other)
