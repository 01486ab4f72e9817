"""Programs without a problem: what they do twice is meant, and what they compile twice has to be compiled twice."""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from corpus.problems.seeded import clean, compiled

F: Any = nn.functional


def _mlp() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))


@clean
def a_function() -> None:
    function = compiled(lambda x: x.sin() + x.cos())
    for _ in range(5):
        function(torch.randn(4))


@clean
def a_training_loop() -> None:
    net = _mlp()
    model, optimizer = compiled(net), torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        loss = F.mse_loss(model(torch.randn(6, 8)), torch.randn(6, 4))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@clean
def training_through_autograd() -> None:
    net = _mlp()
    model = compiled(net, backend="aot_eager")
    for _ in range(3):
        model(torch.randn(6, 8)).sum().backward()


@clean
def marked_dynamic() -> None:
    function = compiled(lambda x: x.relu().sum())
    for length in (3, 5, 9):
        x = torch.randn(length, 4)
        torch._dynamo.mark_dynamic(x, 0)
        function(x)


@clean
def compiled_as_dynamic() -> None:
    function = compiled(lambda x: x.relu().mean(), dynamic=True)
    for length in (3, 5, 9):
        function(torch.randn(length, length + 1))


@clean
def inference_alone() -> None:
    model = compiled(_mlp().eval())
    with torch.inference_mode():
        for _ in range(3):
            model(torch.randn(2, 8))


@clean
def two_modules_of_one_class() -> None:
    for model in (compiled(_mlp()), compiled(_mlp())):
        model(torch.randn(2, 8))


@clean
def an_lstm() -> None:
    torch.manual_seed(0)
    cell = nn.LSTMCell(4, 4)

    @compiled
    def run(xs: Tensor) -> Tensor:
        h, c = torch.zeros(2, 4), torch.zeros(2, 4)
        for x in xs:
            h, c = cell(x, (h, c))
        return h

    for _ in range(2):
        run(torch.randn(5, 2, 4))


@clean
def an_optimizer() -> None:
    net = _mlp()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.randn(2, 8)).sum().backward()
        optimizer.step()
    compiled(lambda x: x + 1)(torch.ones(3))


@clean
def attention() -> None:
    @compiled
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    for _ in range(3):
        attend(*torch.randn(3, 2, 4, 6, 8))


@clean
def a_convolution() -> None:
    torch.manual_seed(0)
    model = compiled(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten()))
    for _ in range(3):
        model(torch.randn(2, 3, 8, 8))


@clean
def tensors_in_a_dictionary() -> None:
    function = compiled(lambda batch: batch["image"].mean() + batch["text"].sum())
    for _ in range(3):
        function({"image": torch.randn(4), "text": torch.randn(3)})


class Pair(NamedTuple):
    """Two tensors."""

    one: Tensor
    other: Tensor


@clean
def a_named_tuple() -> None:
    function = compiled(lambda pair: Pair(pair.other, pair.one))
    for _ in range(3):
        function(Pair(torch.randn(4), torch.randn(3)))


@clean
def a_conditional_in_the_graph() -> None:
    function = compiled(lambda x: torch.where(x > 0, x, x.exp() - 1))
    for _ in range(3):
        function(torch.randn(4))


@clean
def a_vmap() -> None:
    function = compiled(lambda x: torch.vmap(torch.dot)(x, x))
    for _ in range(3):
        function(torch.randn(4, 4))


@clean
def a_gradient_inside() -> None:
    function = compiled(torch.func.grad(lambda x: x.square().sum()))
    for _ in range(3):
        function(torch.randn(4))


@clean
def changes_in_place() -> None:
    function = compiled(lambda x: x.mul_(0.9).add_(1))
    x = torch.randn(4)
    for _ in range(3):
        function(x)


@clean
def a_whole_graph() -> None:
    model = compiled(_mlp(), fullgraph=True)
    for _ in range(3):
        model(torch.randn(2, 8))


@clean
def an_embedding() -> None:
    torch.manual_seed(0)
    table = compiled(nn.Embedding(10, 4))
    for _ in range(3):
        table(torch.randint(10, (3, 2)))


@clean
def a_context_of_torch() -> None:
    @compiled
    def frozen(x: Tensor) -> Tensor:
        with torch.no_grad():
            y = x * 2
        return y + x

    with contextlib.nullcontext():
        for _ in range(3):
            frozen(torch.randn(4, requires_grad=True)).sum().backward()
