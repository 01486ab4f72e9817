"""Keep the tensors at the edges of kernels while a compiled graph runs: the results of each launch.

`depyf.links.inductor.probes` puts the calls of this module into the text of Inductor's module.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass
from depyf.links.inductor.graph import Graph, read_graph
from depyf.links.inductor.line import Launched
from depyf.links.inductor.lines import launched, library_results
from depyf.links.inductor.module import Launch, read_module
from depyf.links.inductor.probes import FILE_VARIABLE, probed
from depyf.links.inductor.statements import parameters
from depyf.torch.adapters import seams
from depyf.torch.adapters.inductor_modules import Written, rewritten
from depyf.torch.kernels.interpreter import is_interpreting
from depyf.torch.numerics.probing import noted_values, stored_values, written_values

Spot = tuple[str, int]
"""A line of a kernel: the name of the kernel, and the number of the line in its text."""
Keep = Callable[[Tensor], Any]
"""Makes a copy or a hash of a tensor."""


@dataclass(slots=True)
class LaunchRun:
    """A finished launch: its results, each with the parameter, the node, and the copy or hash.

    The parameter is "" for a library's kernel, and the node for a result of no known node.
    lines: the values of the lines of the kernel's text, if they were probed.
    """

    launch: Launch
    followed: Launched | None
    results: list[tuple[str, str, Any]] = field(default_factory=list)
    lines: dict[int, Tensor] = field(default_factory=dict)

    @property
    def kernel(self) -> str:
        """The name of the kernel."""
        return self.launch.kernel


@dataclass(slots=True)
class ModuleRun:
    """A module of Inductor's, and one run of it: the graph that it implements, the inputs, and its launches."""

    text: str
    module: torch.fx.GraphModule
    graph: Graph
    is_backward: bool
    launches: list[Launch]
    followed: dict[int, Launched]
    libraries: dict[int, str]
    computed: dict[str, tuple[str, ...]]
    inputs: list[Any] = field(default_factory=list)
    runs: list[LaunchRun] = field(default_factory=list)


@dataclass(slots=True)
class _Edges:
    keep: Keep
    inside: bool
    only: Spot | None
    file: Path
    modules: list[ModuleRun] = field(default_factory=list)
    order: list[ModuleRun] = field(default_factory=list)
    heard: dict[int, list[Tensor]] = field(default_factory=dict)

    def lines(self) -> dict[int, Tensor]:
        """Return the values of the lines of the kernel that has ended, and forget them."""
        values = {line: torch.cat(parts) for line, parts in self.heard.items()}
        self.heard.clear()
        return {**values, **written_values(self.file)}


_ENTERED: list[_Edges] = []


def cloned(tensor: Tensor) -> Tensor:
    """Return a copy of a tensor without its history."""
    return tensor.detach().clone()


@contextmanager
def edges(keep: Keep = cloned, *, inside: bool = False, only: Spot | None = None) -> Iterator[list[ModuleRun]]:
    """Keep the results of all launches of what Inductor compiles and runs in the context.

    The list has the modules in the order in which they first ran.

    Args:
        keep: makes the copies or hashes that are kept.
        inside: probe the lines of kernels, too.
        only: the only line to probe, if `inside` is set; None for all.
    """
    with tempfile.TemporaryDirectory() as folder, ExitStack() as undo:
        state = _Edges(keep, inside, only, Path(folder) / "values")
        _ENTERED.append(state)
        undo.callback(_ENTERED.remove, state)
        if inside:
            undo.enter_context(mock.patch.dict(os.environ, {FILE_VARIABLE: str(state.file)}))
        undo.enter_context(rewritten(_with_edges))
        yield state.order


def _with_edges(written: Written) -> str:
    state, module = _ENTERED[-1], read_module(written.text)
    graph = read_graph(seams.graph_text(written.graph))
    by_launch = {id(followed.launch): followed for followed in launched(module, graph, written.computed)}
    positions = {index: id(launch) for index, launch in enumerate(module.launches)}
    state.modules.append(
        ModuleRun(
            text=written.text,
            module=written.graph,
            graph=graph,
            is_backward=written.is_backward,
            launches=module.launches,
            followed={index: by_launch[key] for index, key in positions.items() if key in by_launch},
            libraries=library_results(module, graph, written.computed),
            computed=written.computed,
        )
    )
    # Triton's kernels have lines only in its interpreter.
    readable = {"cpp", "triton"} if is_interpreting() else {"cpp"}
    inside = state.inside and all(kernel.language in readable for kernel in module.kernels.values())
    key = len(state.modules) - 1
    return probed(written.text, module, __name__, key, inside=inside, libraries=True, only=state.only)


def watched(key: int, call: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Wrap the function of a module that runs the graph: its last call in the context is kept."""
    state = _ENTERED[-1]
    run = state.modules[key]

    def kept(args: list[Any]) -> Any:
        if state in _ENTERED:
            if not any(other is run for other in state.order):
                state.order.append(run)
            run.runs = []
            run.inputs = [cloned(value) if isinstance(value, Tensor) else value for value in args]
        return call(args)

    return kept


def _is_counted(key: int) -> ModuleRun | None:
    """Return the module whose launch is to be kept, or None: a later call, or after the context."""
    state = _ENTERED[-1] if _ENTERED else None
    if state is None or key >= len(state.modules):
        return None
    run = state.modules[key]
    most = sum(bool(launch.kernel) for launch in run.launches)
    return run if len(run.runs) < most else None


def ran(key: int, index: int, arguments: tuple[Any, ...]) -> None:
    """Keep the results of a launch.

    Args:
        key: the number of the module among those that were compiled.
        index: the position of the launch in the module.
        arguments: the values of the kernel's parameters after the launch.
    """
    run = _is_counted(key)
    if run is None:
        return
    state, followed = _ENTERED[-1], run.followed.get(index)
    launch_run = LaunchRun(run.launches[index], followed, lines=state.lines() if state.inside else {})
    if followed is not None:
        values = dict(zip(parameters(followed.kernel), arguments))
        for name in written_parameters(followed, values):
            launch_run.results.append((name, followed.after.get(name, ""), state.keep(values[name])))
    run.runs.append(launch_run)


def written_parameters(followed: Launched, values: dict[str, Any]) -> list[str]:
    """Return the parameters through which a kernel stores tensors.

    Args:
        followed: the launch.
        values: the arguments of the launch by parameter.
    """
    stored = {
        followed.aliases.get(pointer, pointer) for line in followed.lines if line.is_store for pointer in line.pointers
    }
    names = dict.fromkeys((*followed.after, *(name for name in values if name in stored or "out_ptr" in name)))
    return [name for name in names if isinstance(values.get(name), Tensor)]


def note(line: int, name: str, variables: Mapping[str, Any], needed: tuple[str, ...]) -> None:
    """Keep the values of a line of a Triton kernel, for one program of the grid.

    Args:
        line: the line of the kernel.
        name: the variable that the line sets.
        variables: the local variables of the kernel.
        needed: the variables that hold the masks of the line's loads.
    """
    for number, values in noted_values(line, name, variables, needed):
        _ENTERED[-1].heard.setdefault(number, []).append(values)


def stored(line: int, place: Any, value: Any, variables: Mapping[str, Any]) -> None:
    """Keep the values that a line of a Triton kernel stores, for one program of the grid.

    Args:
        line: the line of the kernel.
        place: the pointers that the line stores to.
        value: the stored values.
        variables: the local variables of the kernel, with the masks.
    """
    for number, values in stored_values(line, place, value, variables):
        _ENTERED[-1].heard.setdefault(number, []).append(values)


def returned(key: int, index: int, result: Any) -> None:
    """Keep the result of a library's kernel.

    Args:
        key: the number of the module among those that were compiled.
        index: the position of the launch in the module.
        result: a tensor, or several in a tuple or list.
    """
    run = _is_counted(key)
    if run is None:
        return
    state = _ENTERED[-1]
    node = run.libraries.get(index, "")
    launch_run = LaunchRun(run.launches[index], None)
    if isinstance(result, Tensor):
        launch_run.results.append(("", node, state.keep(result)))
    elif isinstance(result, (tuple, list)):
        items = ((position, item) for position, item in enumerate(result) if isinstance(item, Tensor))
        nodes = run.module.graph.nodes
        launch_run.results += [
            ("", selected_item(nodes, run.graph, node, position), state.keep(item)) for position, item in items
        ]
    run.runs.append(launch_run)


def selected_item(nodes: Iterable[torch.fx.Node], graph: Graph, node: str, position: int) -> str:
    """Return the node that selects one of the several results of a node, or "".

    Args:
        nodes: the nodes of the lowered graph.
        graph: the same graph, as its text shows it.
        node: the name of the node with several results.
        position: the position of the result.
    """
    for user in nodes:
        if user.name in graph.nodes and user.op == "call_function" and user.args[:1]:
            is_selection = getattr(user.target, "__name__", "") == "getitem" and len(user.args) > 1
            if is_selection and getattr(user.args[0], "name", "") == node and user.args[1] == position:
                return str(user.name)
    return ""
