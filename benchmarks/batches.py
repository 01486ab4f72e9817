"""`depyf bits --batch`: twenty models, each row alone against the batch.

    python -m benchmarks.batches                 # C++ kernels
    python -m benchmarks.batches --triton        # Triton's kernels in its interpreter

A difference counts as confirmed if the graph that is cut behind the reported node differs, and each earlier cut does
not. Whether a model's rows differ at all is found without depyf: the compiled model runs on the batch and on each row.
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack

import torch
import torch._inductor.config
from torch import Tensor, nn

import depyf
from benchmarks.bar import Bar, report
from depyf.torch.bits.report import BitsReport
from depyf.torch.kernels.interpreter import interpreting

ROWS = 8
WIDTH = 32


class Attention(nn.Module):
    """One block of self-attention over a row's tokens."""

    def __init__(self) -> None:
        """Make the projections."""
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's result for rows of four tokens."""
        tokens = x.unflatten(1, (4, 8))
        query, key, value = self.inner(tokens).chunk(3, -1)
        weights = torch.softmax(query @ key.mT * 0.35, -1)
        return (tokens + self.outer(weights @ value)).flatten(1)


def mlp(*between: nn.Module) -> nn.Module:
    """Return two layers with modules between them."""
    return nn.Sequential(nn.Linear(WIDTH, 48), *between, nn.Linear(48, WIDTH))


MODELS: dict[str, Callable[[], Callable[[Tensor], Tensor]]] = {
    "linear": lambda: nn.Linear(WIDTH, 16),
    "linear_no_bias": lambda: nn.Linear(WIDTH, 16, bias=False),
    "mlp_relu": lambda: mlp(nn.ReLU()),
    "mlp_gelu": lambda: mlp(nn.GELU()),
    "mlp_tanh": lambda: mlp(nn.Tanh()),
    "mlp_norm": lambda: mlp(nn.LayerNorm(48), nn.ReLU()),
    "norm_first": lambda: nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 8)),
    "deep": lambda: nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(4))),
    "attention": Attention,
    "convolution": lambda: nn.Sequential(nn.Unflatten(1, (2, 16)), nn.Conv1d(2, 4, 3), nn.ReLU()),
    "pointwise": lambda: lambda x: torch.relu(x * 2.0) + x,
    "softmax": lambda: lambda x: torch.softmax(x, -1) * 2.0,
    "layer_norm": lambda: nn.LayerNorm(WIDTH),
    "row_sums": lambda: lambda x: x.sum(-1) * 2.0,
    "maximum": lambda: lambda x: x.amax(-1) - x[:, 0],
    "batch_mean": lambda: lambda x: x - x.mean(0, keepdim=True),
    "batch_softmax": lambda: lambda x: torch.softmax(x, 0),
    "gated": lambda: lambda x: torch.sigmoid(x) * x,
    "normalised": lambda: lambda x: nn.functional.normalize(x, dim=-1),
    "outer": lambda: lambda x: (x[:, :, None] * x[:, None, :]).sum(-1),
}


def differs(model: Callable[[Tensor], Tensor], x: Tensor) -> bool:
    """Return whether the rows alone have other bits than the batch, found without depyf."""
    torch._dynamo.reset()
    with torch.no_grad():
        compiled = torch.compile(model, dynamic=False)
        return not torch.equal(compiled(x), torch.cat([compiled(row) for row in x.split(1)]))


def judge(name: str, bits_report: BitsReport, is_different: bool) -> str:
    """Return what is wrong about a report, or ""."""
    if bool(bits_report.results_different) != is_different:
        return f"{name}: the rows {'differ' if is_different else 'are equal'}: {bits_report.not_compared}"
    if is_different and (bits_report.first is None or "each earlier cut is equal" not in bits_report.first.cause):
        return f"{name}: not confirmed: {bits_report.first}"
    return ""


def main() -> None:
    """Print the bar."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches")
    parser.add_argument("--triton", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    wrong, models, different = [], [name for name in MODELS if name.startswith(options.only)], 0
    with ExitStack() as stack:
        if options.triton:
            stack.enter_context(interpreting())
            stack.enter_context(torch._inductor.config.patch(cpu_backend="triton"))
        for name in models:
            torch.manual_seed(0)
            model, x = MODELS[name](), torch.randn(ROWS, WIDTH)
            is_different = differs(model, x)
            different += is_different
            bits_report = depyf.first_difference(torch.compile(model), batch=(1, ROWS))(x)
            problem = judge(name, bits_report, is_different)
            wrong += [problem] if problem else []
            kernel = (
                f"{bits_report.first.kernel}, {bits_report.first.node}" if bits_report.first is not None else "equal"
            )
            print(f"{name}: {problem or kernel}", file=sys.stderr, flush=True)
    right = len(models) - len(wrong)
    what, number = "batch: models whose first kernel a cut confirms", f"{right} of {len(models)}"
    report([Bar(what, number, not wrong, wrong, f"{different} differ")])


if __name__ == "__main__":
    main()
