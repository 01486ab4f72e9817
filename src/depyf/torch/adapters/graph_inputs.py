"""The inputs of the graph that Dynamo has captured, while a backend compiles it."""

from __future__ import annotations

from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.spelling import spelled


@dataclass(frozen=True, slots=True)
class CapturedGraph:
    """The graph in the making: the function that it comes from, and how its inputs are spelled in the program."""

    function: str = ""
    inputs: tuple[str, ...] = ()


def captured_graph() -> CapturedGraph:
    """Return the graph that a backend compiles in this thread; an empty one if there is none or torch hides it."""
    from torch._dynamo import symbolic_convert

    current = getattr(getattr(symbolic_convert, "InstructionTranslator", None), "current_tx", None)
    try:
        translator = current() if current is not None else None
    except (AttributeError, IndexError):  # Outside of a capture.
        return CapturedGraph()
    if translator is None:
        return CapturedGraph()
    root = getattr(translator.output, "root_tx", None) or translator
    nodes = [node for node in translator.output.graph.nodes if node.op == "placeholder"]
    return CapturedGraph(root.f_code.co_name, tuple(map(_spelled, nodes)))


def _spelled(node: Any) -> str:
    source = getattr(node, "_dynamo_source", None)
    try:
        name = source.name if source is not None else node.name
        return spelled(name() if callable(name) else name)
    except NotImplementedError:  # A source without a name.
        return str(node.name)


def input_index(node: Any) -> int | None:
    """Return the position, among the inputs of the captured graph, of an input of a lowered graph; None if unknown."""
    described = node.meta.get("desc")
    index = getattr(described, "idx", None)
    return index if isinstance(index, int) and type(described).__name__ == "PlainAOTInput" else None


def gradient_index(node: Any) -> int | None:
    """Return the position of the result whose gradient an input of a backward graph is; None if it is another input."""
    index = getattr(getattr(node.meta.get("desc"), "output", None), "idx", None)
    return index if isinstance(index, int) else None
