"""Are all equal blocks found, and only equal ones? The second method compares the nodes of the live graph.

depyf reads the text of the graph. Here the nodes of each block come from torch's own stack of modules.
"""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.bar import Bar, none_of
from corpus.repeated_blocks import MODELS
from depyf.model.repeats import Repeat, repeats_in
from depyf.torch.adapters.module_paths import module_path


def measure() -> list[Bar]:
    """Compare the blocks of all models; return the bars."""
    right, false, runs, expected = 0, [], 0, 0
    for name, example in MODELS.items():
        graphs = _graphs(name)
        repeats = [(graph, repeat) for graph in graphs for repeat in repeats_in(_text(graph))]
        blocks = tuple(sorted((repeat.blocks for _, repeat in repeats), reverse=True))
        runs, expected = runs + len(repeats), expected + bool(example.blocks)
        right += bool(example.blocks) and blocks == example.blocks
        if blocks != example.blocks:
            print(f"{name}: found {blocks}, expected {example.blocks}")
        false += [f"{name}: {repeat.first} to {repeat.last}" for graph, repeat in repeats if not _equal(graph, repeat)]
        if not example.blocks:
            false += [f"{name}: {repeat.blocks} blocks" for _, repeat in repeats]
    what = "models whose equal blocks are all found"
    return [Bar(what, f"{right} of {expected}", right == expected), none_of("runs that differ", false, str(runs))]


def _graphs(name: str) -> list[torch.fx.GraphModule]:
    torch._dynamo.reset()
    graphs = []

    def keep(graph: torch.fx.GraphModule, _: object) -> Any:  # noqa: ANN401 - what a backend returns
        graphs.append(graph)
        return graph.forward

    model, arguments = MODELS[name].make()
    torch.compile(model, backend=keep)(**arguments)
    return graphs


def _text(graph: torch.fx.GraphModule) -> str:
    return graph.print_readable(print_output=False, include_stride=True, include_device=True)


def _equal(graph: torch.fx.GraphModule, repeat: Repeat) -> bool:
    """Return whether the nodes of all blocks are equal up to names and parameters; True for blocks without a module."""
    if not repeat.first:
        return True
    container, _, first = repeat.first.rpartition(".")
    numbers = range(int(first), int(first) + repeat.blocks)
    return len({_signature(graph, f"{container}.{number}".lstrip(".")) for number in numbers}) == 1


def _signature(graph: torch.fx.GraphModule, path: str) -> tuple[Any, ...]:
    numbers: dict[str, int] = {}
    nodes_of_block = []
    for node in graph.graph.nodes:
        paths = [module_path(name) for name, _ in node.meta.get("nn_module_stack", {}).values()]
        if path not in paths or node.op == "placeholder":
            continue
        flow = tuple(numbers.setdefault(operand.name, len(numbers)) for operand in (*node.all_input_nodes, node))
        shape = tuple(getattr(node.meta.get("example_value"), "shape", ()))
        constants = torch.fx.node.map_arg((node.args, node.kwargs), lambda operand: None)
        nodes_of_block.append((str(node.target), flow, shape, str(constants)))
    return tuple(nodes_of_block)
