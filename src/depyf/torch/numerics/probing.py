"""Collect the values of kernel lines while a compiled graph runs. `depyf.links.inductor.probes` inserts the probes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.utils import _pytree

from depyf.bytecode.records import dataclass
from depyf.links.inductor.graph import Graph, read_graph
from depyf.links.inductor.line import Launched
from depyf.links.inductor.lines import launched
from depyf.links.inductor.module import read_module
from depyf.links.inductor.probes import COUNTED, FILE_VARIABLE, MOST_VALUES, probed
from depyf.torch.adapters import seams
from depyf.torch.adapters.inductor_modules import Written, rewritten
from depyf.torch.adapters.random_numbers import eager_random_numbers


@dataclass(slots=True)
class Probed:
    """A module with probes: its launches by position, its graph, and the eager values of the graph's nodes.

    `rounding` holds the distance of these values from float64.
    """

    text: str
    module: torch.fx.GraphModule
    graph: Graph
    is_backward: bool
    launches: dict[int, Launched]
    nodes: dict[str, Any] = field(default_factory=dict)
    rounding: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Ran:
    """A finished launch: the values of its lines, by line of the kernel's text, and its arguments by parameter.

    `counted` holds the values of the unmasked lanes, for lines with masked loads.
    """

    probed: Probed
    launched: Launched
    values: dict[int, Tensor]
    arguments: dict[str, Any]
    counted: dict[int, Tensor] = field(default_factory=dict)


@dataclass(slots=True)
class _Probes:
    """The probes of one context: the values since the last launch, and the callback for a finished launch."""

    done: Callable[[Ran], None]
    file: Path
    modules: list[Probed] = field(default_factory=list)
    heard: dict[int, list[Any]] = field(default_factory=dict)


_ENTERED: list[_Probes] = []


@contextmanager
def probing(done: Callable[[Ran], None]) -> Iterator[None]:
    """Make kernels that are compiled in the context report the values of their lines; `done` receives each launch."""
    with tempfile.TemporaryDirectory() as folder:
        probes = _Probes(done, Path(folder) / "values")
        _ENTERED.append(probes)
        try:
            with mock.patch.dict(os.environ, {FILE_VARIABLE: str(probes.file)}), rewritten(_with_probes):
                yield
        finally:
            _ENTERED.pop()


def _with_probes(written: Written) -> str:
    """Return the text of a module with probes, and keep the data that is needed to read them."""
    from depyf.links.inductor.statements import parameters

    probes, module = _ENTERED[-1], read_module(written.text)
    graph = read_graph(seams.graph_text(written.graph))
    by_launch = {
        id(launched_kernel.launch): launched_kernel for launched_kernel in launched(module, graph, written.computed)
    }
    launches = {index: by_launch[id(launch)] for index, launch in enumerate(module.launches) if id(launch) in by_launch}
    launches = {
        index: launched_kernel for index, launched_kernel in launches.items() if parameters(launched_kernel.kernel)
    }
    probes.modules.append(Probed(written.text, written.graph, graph, written.is_backward, launches))
    return probed(written.text, module, __name__, len(probes.modules) - 1)


def watched(key: int, call: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Wrap the function of a module that runs the graph: the graph's nodes run eagerly first."""
    probes = _ENTERED[-1]

    def run(args: list[Any]) -> Any:
        if probes in _ENTERED:
            probed_module = probes.modules[key]
            probed_module.nodes = _values(probed_module.module, args, in_float64=False)
            probed_module.rounding = _rounding(probed_module.module, args, probed_module.nodes)
        return call(args)

    return run


def _values(module: torch.fx.GraphModule, args: list[Any], *, in_float64: bool) -> dict[str, Any]:
    """Return the eager value of each node of a graph, in float64 if its operations support that."""
    given = [arg.detach().clone() if isinstance(arg, Tensor) else arg for arg in args]
    given = [_widened(argument) for argument in given] if in_float64 else given
    values: dict[str, Any] = {}

    class Keeping(torch.fx.Interpreter):
        def run_node(self, n: torch.fx.Node) -> Any:
            result = super().run_node(n)
            values[n.name] = result.detach().clone() if isinstance(result, Tensor) else result
            return result

        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            """Call an operation, in float64 where the arguments name a dtype.

            Args:
                target: the operation.
                args: its positional arguments.
                kwargs: its keyword arguments.
            """
            if in_float64:
                args, kwargs = _pytree.tree_map(_wide_dtype, (args, kwargs))
            return super().call_function(target, args, kwargs)

    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.no_grad(), torch.random.fork_rng(devices=devices), eager_random_numbers():
        Keeping(module).run(*given)
    return values


def _widened(value: Any) -> Any:
    return value.double() if isinstance(value, Tensor) and value.is_floating_point() else value


def _wide_dtype(value: Any) -> Any:
    return torch.float64 if isinstance(value, torch.dtype) and value.is_floating_point else value


def _rounding(module: torch.fx.GraphModule, args: list[Any], nodes: Mapping[str, Any]) -> dict[str, float]:
    """Return the distance of a graph's nodes from their float64 values; empty if these are not available."""
    try:
        exact = _values(module, args, in_float64=True)
    except (RuntimeError, TypeError):
        return {}
    distances = {}
    for name, value in nodes.items():
        other = exact.get(name)
        if isinstance(value, Tensor) and value.is_floating_point() and isinstance(other, Tensor) and value.numel():
            apart = (value.double() - other.double()).abs()
            distances[name] = float(apart.nan_to_num(0.0, 0.0, 0.0).max())
    return distances


def ran(key: int, index: int, arguments: tuple[Any, ...]) -> None:
    """Process the end of a launch.

    Args:
        key: the number of the module among those that were compiled.
        index: the position of the launch in the module.
        arguments: the values of the kernel's parameters after the launch.
    """
    from depyf.links.inductor.statements import parameters

    probes = _ENTERED[-1] if _ENTERED else None
    if probes is None:
        return
    values = {line: torch.cat(parts) for line, parts in probes.heard.items()}
    values.update(written_values(probes.file))
    probes.heard.clear()
    module = probes.modules[key]
    launched_kernel = module.launches.get(index)
    if launched_kernel is not None:
        counted = {line - COUNTED: values.pop(line) for line in [*values] if line >= COUNTED}
        probes.done(
            Ran(module, launched_kernel, values, dict(zip(parameters(launched_kernel.kernel), arguments)), counted)
        )


def written_values(path: Path) -> dict[int, Tensor]:
    """Return the values that a C++ kernel wrote, and remove the file."""
    import numpy

    if not path.exists():
        return {}
    data = numpy.fromfile(path, dtype=numpy.float64)
    path.unlink()
    heads = data.view(numpy.int32).reshape(-1, 2)
    parts: dict[int, list[Any]] = {}
    place = 0
    while place < len(data):
        line, count = (int(head) for head in heads[place])
        parts.setdefault(line, []).append(data[place + 1 : place + 1 + count])
        place += 1 + count
    return {line: torch.from_numpy(numpy.concatenate(arrays)) for line, arrays in parts.items()}


def note(line: int, name: str, variables: Mapping[str, Any], needed: tuple[str, ...]) -> None:
    """Receive the values of a Triton kernel's line, for one program of the grid and its unmasked lanes.

    Args:
        line: the line of the kernel.
        name: the variable that the line sets.
        variables: the local variables of the kernel.
        needed: the variables that hold the masks of the line's loads.
    """
    for number, values in noted_values(line, name, variables, needed):
        _hear(number, values)


def stored(line: int, place: Any, value: Any, variables: Mapping[str, Any]) -> None:
    """Receive the values that a Triton kernel's line stores, in the dtype of the memory.

    Args:
        line: the line of the kernel.
        place: the pointers that the line stores to.
        value: the stored values.
        variables: the local variables of the kernel, with the masks.
    """
    for number, values in stored_values(line, place, value, variables):
        _hear(number, values)


def noted_values(
    line: int, name: str, variables: Mapping[str, Any], needed: tuple[str, ...]
) -> Iterator[tuple[int, Tensor]]:
    """Yield the values of a line in its unmasked lanes. With `COUNTED` added, they are those of unmasked loads.

    Args:
        line: the line of the kernel.
        name: the variable that the line sets.
        variables: the local variables of the kernel.
        needed: the variables that hold the masks of the line's loads.
    """
    masks = [value for key, value in variables.items() if key.endswith("mask")]
    yield from _lanes(line, variables[name], masks)
    if needed:
        yield from _lanes(line + COUNTED, variables[name], [*masks, *(variables[mask_name] for mask_name in needed)])


def stored_values(line: int, place: Any, value: Any, variables: Mapping[str, Any]) -> Iterator[tuple[int, Tensor]]:
    """Yield the values that a line stores in its unmasked lanes, in the dtype of the memory.

    Args:
        line: the line of the kernel.
        place: the pointers that the line stores to.
        value: the stored values.
        variables: the local variables of the kernel, with the masks.
    """
    masks = [value for key, value in variables.items() if key.endswith("mask")]
    yield from _lanes(line, value, masks, place.dtype.scalar.element_ty)


def _lanes(line: int, value: Any, masks: list[Any], memory: Any = None) -> Iterator[tuple[int, Tensor]]:
    import numpy

    data = getattr(getattr(value, "handle", None), "data", None)
    if data is None:
        return
    kept = numpy.ones_like(data, dtype=bool)
    for mask in (mask_value for mask_value in masks if hasattr(mask_value, "handle")):
        lanes = mask.handle.data
        if lanes.ndim == data.ndim and all(a in (1, b) for a, b in zip(lanes.shape, data.shape)):
            kept = kept & lanes
    values = _numbers(data[kept], value.dtype.scalar.name)
    yield line, values.to(torch.float16).double() if memory is not None and memory.name == "fp16" else values


def _hear(line: int, values: Tensor) -> None:
    if not _ENTERED:
        return
    heard = _ENTERED[-1].heard.setdefault(line, [])
    if sum(map(len, heard[-1:])) * len(heard) < MOST_VALUES or not bool(torch.isfinite(values).all()):
        heard.append(values)


def _numbers(data: Any, dtype: str) -> Tensor:
    """Return a block of the interpreter as numbers. The interpreter stores bfloat16 as bits."""
    import numpy

    if dtype == "bf16" and data.dtype == numpy.uint16:
        return torch.from_numpy(data.view(numpy.int16).copy()).view(torch.bfloat16).double().ravel()
    return torch.from_numpy(data.astype(numpy.float64)).ravel()
