"""What `depyf.watch` costs a steady call, and whether each recompile after the warm-up is an alarm.

    python -m benchmarks.watch

Steady calls are timed in batches, with and without a watch in turn. The least time of each counts: other work of the
machine only adds to a time. The ratio of two sets without a watch shows the error of the measurement. The
recompiles are seeded: a function gets a size, type, value or mode that no earlier call had. torch's own counter of
unique compiles is the truth.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch._dynamo.config
from torch._dynamo.utils import counters

import depyf
from benchmarks.bar import Bar, report

BATCHES = 300
CALLS = 100
WARM_RUNS = 1000
SEEDED = 40
MOST_RATIO = 1.005
Step = Callable[[], object]


def batch(step: Callable[[torch.Tensor], object], x: torch.Tensor) -> float:
    """Return the seconds of a batch of calls."""
    begin = time.thread_time()
    for _ in range(CALLS):
        step(x)
    return time.thread_time() - begin


def steady() -> tuple[float, float]:
    """Return the ratio of a steady call in a watch to one without, and that of two sets without a watch."""
    step, x = torch.compile(lambda x: (x.sin() * 2).relu(), backend="eager"), torch.ones(4)
    batch(step, x)
    least = [float("inf")] * 3
    with depyf.watch(warm_up=0) as watch:
        for number in range(3 * BATCHES):
            kind = number % 3
            if kind == 0:
                watch.start()
            else:
                watch.stop()
            batch(step, x)
            least[kind] = min(least[kind], batch(step, x))
    return least[0] / least[1], least[2] / least[1]


class Model(torch.nn.Module):
    """A module with a graph break, whose depth and scale the seeds change."""

    def __init__(self) -> None:
        """Make the layer."""
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
        self.depth = 1

    def forward(self, x: torch.Tensor, scale: float) -> torch.Tensor:
        """Run the layer `depth` times."""
        for _ in range(self.depth):
            x = self.layer(x)
        torch._dynamo.graph_break()
        return x * scale


def new_kinds(model: Model, step: Callable[..., object], seeded: random.Random) -> Iterator[Step]:
    """Yield calls, each of which differs from all earlier ones."""
    sizes, scales = (seeded.sample(range(2, 500), SEEDED) for _ in range(2))
    depths = seeded.sample(range(2, 60), SEEDED)
    for number in range(SEEDED):
        kind = number % 3
        if kind == 0:
            yield partial(step, torch.ones(sizes[number], 8), 1.0)
        elif kind == 1:
            yield partial(step, torch.ones(1, 8), scales[number] + 0.5)
        else:
            model.depth = depths[number] + 1
            yield partial(step, torch.ones(1, 8), 1.0)
            model.depth = 1


def alarms_of_seeds() -> tuple[int, int]:
    """Return the number of seeded recompiles that gave alarms, and of alarms that torch's count does not confirm."""
    torch._dynamo.reset()
    model = Model().eval()
    step = torch.compile(model, backend="eager", dynamic=False)
    right = surplus = 0
    with torch._dynamo.config.patch(recompile_limit=10_000, accumulated_recompile_limit=10_000), torch.no_grad():
        with depyf.watch() as watch:
            step(torch.ones(1, 8), 1.0)
            watch.end_warm_up()
            for call in new_kinds(model, step, random.Random(41)):
                before, alarms = counters["frames"]["ok"], watch.counts.alarms
                call()
                compiles = counters["frames"]["ok"] - before
                new_alarms = watch.counts.alarms - alarms
                right += new_alarms == compiles and compiles > 0
                surplus += max(0, new_alarms - compiles)
    return right, surplus


def alarms_when_warm() -> int:
    """Return the number of alarms in warm runs: each calls two compiled functions with known sizes, types and modes."""
    torch._dynamo.reset()
    model = Model().eval()
    step = torch.compile(model, backend="eager", dynamic=False)
    seeded, sizes = random.Random(7), (1, 2, 3, 5)

    def run() -> None:
        size, scale = seeded.choice(sizes), seeded.choice((1.0, 2.0))
        with torch.inference_mode():
            step(torch.ones(size, 8), scale)

    with torch._dynamo.config.patch(recompile_limit=100), depyf.watch() as watch:
        for size in sizes:
            for scale in (1.0, 2.0):
                with torch.inference_mode():
                    step(torch.ones(size, 8), scale)
        watch.end_warm_up()
        for _ in range(WARM_RUNS):
            run()
    return watch.counts.alarms


def main() -> None:
    """Print the bars."""
    ratio, control = steady()
    right, surplus = alarms_of_seeds()
    alarms = alarms_when_warm()
    report(
        [
            Bar(
                "a steady call in depyf.watch, compared with one without",
                f"{ratio:.4f}",
                ratio <= MOST_RATIO,
                note=f"two sets without a watch: {control:.4f}",
            ),
            Bar("seeded recompiles after the warm-up that gave an alarm each", f"{right} of {SEEDED}", right == SEEDED),
            Bar("alarms that torch's own count of compiles does not confirm", str(surplus), surplus == 0),
            Bar(f"alarms in {WARM_RUNS} warm runs", str(alarms), alarms == 0),
        ]
    )


if __name__ == "__main__":
    main()
