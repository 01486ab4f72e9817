"""Problems in training loops and models."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import torch
from torch import Tensor, nn

from corpus.problems.seeded import compiled, problem

F: Any = nn.functional


def _mlp() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


@problem("tensor-size")
def last_batch_is_smaller() -> None:
    net = compiled(_mlp(), dynamic=False)
    data = torch.randn(20, 8)
    for batch in data.split(6):
        net(batch).sum().backward()  # here


@problem("break-item")
def loss_is_logged() -> None:
    net, history = _mlp(), list[float]()

    @compiled
    def step(x: Tensor, y: Tensor) -> tuple[Tensor, float]:
        loss = F.mse_loss(net(x), y)
        logged = loss.item()  # here
        return loss * 2, logged

    for _ in range(2):
        loss, logged = step(torch.randn(3, 8), torch.randn(3, 4))
        loss.backward()
        history.append(logged)


@problem("break-print")
def debug_print_left_in_forward() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = _mlp()

        def forward(self, x: Tensor) -> Tensor:
            hidden = self.body[0](x)
            print("hidden", hidden.shape)  # here
            return self.body[2](hidden.relu())

    compiled(Net())(torch.randn(3, 8))


@problem("counter-in-condition", "module-int")
def module_counts_its_calls() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.calls = _mlp(), 0

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1  # here
            return self.body(x) * (1.0 if self.calls > 2 else 0.5)

    net = compiled(Net(), dynamic=False)
    for _ in range(4):
        net(torch.randn(3, 8))


@problem("argument-float")
def temperature_is_annealed() -> None:
    @compiled
    def soften(logits: Tensor, temperature: float) -> Tensor:
        return torch.softmax(logits / temperature, -1)  # here

    with torch._dynamo.config.patch(specialize_float=True):
        for step in range(4):
            soften(torch.randn(3, 8), 1.0 - 0.1 * step)


@problem("argument-string")
def mode_is_a_string() -> None:
    @compiled
    def reduce(x: Tensor, mode: str) -> Tensor:
        return x.sum() if mode == "sum" else x.mean()  # here

    for mode in ("sum", "mean", "sum"):
        reduce(torch.randn(3, 8), mode)


@problem("tensor-dtype")
def half_of_the_batches_are_double() -> None:
    @compiled
    def normalize(x: Tensor) -> Tensor:
        return (x - x.mean()) / x.std()  # here

    for batch in (torch.randn(3, 8), torch.randn(3, 8).double(), torch.randn(3, 8)):
        normalize(batch)


@problem("tensor-stride")
def one_input_is_transposed() -> None:
    @compiled
    def score(x: Tensor) -> Tensor:
        return (x * 2).sum(-1)  # here

    x = torch.randn(8, 8)
    score(x)
    score(x.t())


@problem("break-data-dependent-branch")
def gradients_are_clipped_by_a_branch() -> None:
    @compiled
    def clip(grad: Tensor, limit: float) -> Tensor:
        norm = grad.norm()
        if norm > limit:  # here
            grad = grad * (limit / norm)
        return grad

    clip(torch.randn(8), 1.0)
    clip(torch.randn(8) * 10, 1.0)


@problem("argument-none")
def mask_is_there_at_times() -> None:
    @compiled
    def attend(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
        scores = q @ k.T
        return (scores if mask is None else scores + mask).softmax(-1)  # here

    q = torch.randn(4, 8)
    attend(q, q, None)
    attend(q, q, torch.zeros(4, 4))


@problem("growing-container")
def losses_are_gathered_in_a_list() -> None:
    losses: list[Tensor] = []

    @compiled
    def step(x: Tensor) -> Tensor:
        losses.append(x.square().mean())  # here
        return x * 0.9

    x = torch.randn(8)
    for _ in range(4):
        x = step(x)


@problem("break-time")
def the_step_times_itself() -> None:
    @compiled
    def step(x: Tensor) -> Tensor:
        began = time.perf_counter()  # here
        y = x.relu()
        return y + 0 * began

    step(torch.randn(8))


@dataclasses.dataclass
class Settings:
    """Settings of a step."""

    scale: int = 1


@problem("object-int", "counter")
def settings_change_between_steps() -> None:
    settings = Settings()

    @compiled
    def step(x: Tensor, settings: Settings) -> Tensor:
        return x * settings.scale  # here

    with torch._dynamo.config.patch(specialize_int=True, automatic_dynamic_shapes=False):
        for scale in (1, 2, 3):
            settings.scale = scale
            step(torch.randn(8), settings)


@problem("failure")
def shapes_do_not_fit() -> None:
    net = compiled(_mlp(), fullgraph=True)
    try:
        net(torch.randn(3, 7))  # here
    except RuntimeError:
        return


@problem("recompile-limit")
def a_name_of_each_sample() -> None:
    @compiled
    def embed(x: Tensor, name: str) -> Tensor:
        return x * len(name)  # here

    for number in range(12):
        embed(torch.randn(4), f"sample {number}")


@problem("tensor-requires-grad")
def inputs_need_gradients_at_times() -> None:
    @compiled
    def energy(x: Tensor) -> Tensor:
        return x.square().sum()  # here

    energy(torch.randn(4))
    energy(torch.randn(4, requires_grad=True))


@problem("break-dynamic-shape", "break-boolean-mask")
def padding_is_dropped() -> None:
    @compiled
    def loss(logits: Tensor, target: Tensor) -> Tensor:
        kept = target != 0
        logits = logits[kept]  # here
        return logits.logsumexp(-1).mean()

    loss(torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 3, 1]))


_AT_THE_SLICE = "it captures `.tolist()`, and the graph breaks at the slice"


@problem("break-tolist", lacking={"2.6": _AT_THE_SLICE, "2.9": _AT_THE_SLICE})
def lengths_as_a_list() -> None:
    @compiled
    def shorten(x: Tensor, lengths: Tensor) -> Tensor:
        first, second = lengths.tolist()  # here
        return x[:first].sum() + x[:second].sum()

    with torch._dynamo.config.patch(capture_scalar_outputs=False):
        shorten(torch.randn(8), torch.tensor([2, 5]))


@problem("autocast")
def autocast_in_half_of_the_calls() -> None:
    net = compiled(_mlp())
    x = torch.randn(3, 8)
    with torch.no_grad():
        net(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            net(x)  # here


@problem("tensor-rank")
def a_sample_without_a_batch() -> None:
    net = compiled(_mlp())
    net(torch.randn(3, 8))
    net(torch.randn(8))  # here
