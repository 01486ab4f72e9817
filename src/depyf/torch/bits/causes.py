"""Find the cause of differing bits of a kernel from facts. One that they only suggest is called probable."""

from __future__ import annotations

from collections.abc import Iterator

import torch.fx

from depyf.bytecode.records import dataclass
from depyf.torch.bits.edges import LaunchRun, ModuleRun
from depyf.torch.bits.kernels import KernelResult, names_of
from depyf.torch.bits.lines import WrongLine
from depyf.torch.bits.reference import Reference, origin_of
from depyf.torch.bits.report import UNKNOWN

_RANDOM = ("rand", "dropout", "bernoulli", "normal", "multinomial", "inductor_seed", "inductor_random", "uniform")
_REDUCTIONS = ("sum", "mean", "prod", "var", "var_mean", "cumsum", "cumprod", "logcumsumexp", "norm", "logsumexp")


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of the first difference: the module, the launch, the node, the line, and eager's values.

    is_steady: whether a second run of the same code gave the same bits; None if it was not run.
    """

    run: ModuleRun
    result: KernelResult
    node: torch.fx.Node | None
    line: WrongLine | None
    known: Reference
    is_steady: bool | None


def cause_of(facts: Facts) -> str:
    """Return the cause, or `UNKNOWN`."""
    return next(_causes(facts), UNKNOWN)


def random_before(name: str, run: ModuleRun, result: KernelResult) -> torch.fx.Node | None:
    """Return the first random node on which a result of a launch depends, of those that the launch computes.

    Args:
        name: the node of the result.
        run: a run of Inductor's module, with its graph.
        result: the comparison of the launch.
    """
    nodes = {node.name: node for node in run.module.graph.nodes}
    launched, reached = set(names_of(run, run.runs[result.position])), set[str]()
    pending = [name] if name in nodes else []
    while pending:
        current = pending.pop()
        if current not in reached:
            reached.add(current)
            pending += [other.name for other in nodes[current].all_input_nodes if other.name in launched]
    drawn = (node for node in nodes.values() if node.name in reached and _operation(node).startswith(_RANDOM))
    return next(drawn, None)


def _causes(facts: Facts) -> Iterator[str]:
    """Yield the causes for which there is evidence, the most certain first."""
    node = facts.node
    if node is not None and _operation(node).startswith(_RANDOM):
        yield "a random number: Inductor does not draw eager's numbers"
    if facts.is_steady is False:
        yield "not deterministic: the same compiled code gave other bits in a second run"
    if node is None:
        return
    if facts.line is not None and facts.line.is_unrounded:
        yield f"precision of an intermediate: {node.name} stays float32 in the kernel, eager rounds it"
    parts = _decomposed(facts, node)
    if parts and "." in facts.result.kernel and not facts.result.kernel.startswith("triton"):
        yield f"another algorithm: {facts.result.kernel} computes what eager computes by other operations"
    if parts:
        yield f"decomposition: eager computes {_original(node)} in one operation, the compiled graph by {parts}"
    if _operation(node) in _REDUCTIONS:
        yield f"probably the order of the reduction (the loop of the kernel is {_vector(facts)})"


def _decomposed(facts: Facts, node: torch.fx.Node) -> str:
    """Return the nodes by which an operation is computed, if these give other bits than the operation itself."""
    key = (_original(node), origin_of(node) or node.meta.get("seq_nr"))
    nodes = [other for other in facts.run.module.graph.nodes if other.op == "call_function"]
    same = [other for other in nodes if (_original(other), origin_of(other) or other.meta.get("seq_nr")) == key]
    same = same if key[0] else [node]
    if not any(other.name in facts.known.decomposed for other in same):
        return ""
    return ", ".join(dict.fromkeys(_operation(other) for other in same))


def _original(node: torch.fx.Node) -> str:
    return str(node.meta.get("original_aten") or "").removeprefix("aten.").partition(".")[0]


def _operation(node: torch.fx.Node) -> str:
    name = str(node.target) if not callable(node.target) else getattr(node.target, "__name__", str(node.target))
    return name.partition(".")[0]


def _vector(facts: Facts) -> str:
    followed = next((launch.followed for launch in _launches(facts) if launch.followed is not None), None)
    text = followed.kernel.text if followed is not None else ""
    return "vectorised" if "at::vec" in text else "scalar"


def _launches(facts: Facts) -> Iterator[LaunchRun]:
    return iter(facts.run.runs[facts.result.position : facts.result.position + 1])
