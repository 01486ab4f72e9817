"""The contract of a test: the graphs that it compiles have eager's bits, or those of the rows of a batch alone."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from torch import Tensor

from depyf.torch.adapters.recorded_backends import recorded_backends
from depyf.torch.bits.batches import compare_batches, dynamic_shapes, is_state, sides_of
from depyf.torch.bits.first import Options, compare_calls, undisturbed
from depyf.torch.bits.report import BitsReport
from depyf.torch.bits.script import Kept, around
from depyf.torch.numerics.recording import GraphCall

KINDS = ("eager", "batch")


class BitsContractError(AssertionError):
    """The graphs of a block have other bits than its contract says, or none could be compared."""


@contextmanager
def kept_bits(kind: str) -> Iterator[None]:
    """Run a block with its graphs in eager, then compare the first call of each graph that Inductor would compile.

    Only functions are compared that the block itself hands to `torch.compile`.

    Args:
        kind: "eager" compares compiled with eager, forward and backward. "batch" compares each row alone with the
            batch, forward only. The batch has as many rows as the first input of the first graph.

    Raises:
        ValueError: `kind` is neither.
        BitsContractError: some bits differ, or nothing could be compared.
    """
    if kind not in KINDS:
        raise ValueError(f"bits must be {' or '.join(map(repr, KINDS))}, not {kind!r}")
    kept = Kept()
    with recorded_backends(functools.partial(around, kept)), dynamic_shapes() if kind == "batch" else nullcontext():
        yield
    report = BitsReport("the graphs of the test", ("compiled", "eager"))
    with undisturbed():
        _COMPARE[kind](report, kept)
    if report.results_different or not report.results_compared:
        raise BitsContractError(str(report))


def _against_eager(report: BitsReport, kept: Kept) -> None:
    compare_calls(report, kept.calls, Options())


def _against_rows(report: BitsReport, kept: Kept) -> None:
    size = next(iter(rows_of(kept.calls[0][0])), 0) if kept.calls else 0
    if size < 2:
        report.not_compared.append("no input of the first graph has several rows")
        return
    report.sides = sides_of((1, size))
    compare_batches(report, kept.calls, (1, size), nullcontext)


_COMPARE: dict[str, Callable[[BitsReport, Kept], None]] = {"eager": _against_eager, "batch": _against_rows}


def rows_of(call: GraphCall) -> Iterator[int]:
    """Yield the first sizes of the inputs of a graph that are no parameters."""
    names = [node.name for node in call.module.graph.nodes if node.op == "placeholder"]
    for name, value in zip(names, call.inputs, strict=True):
        if isinstance(value, Tensor) and value.dim() and not is_state(name):
            yield value.shape[0]
