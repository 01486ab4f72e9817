"""Small models of usual shapes, forward and backward."""

from __future__ import annotations

import torch


def _trained(module, *inputs, backend="aot_eager"):
    torch.manual_seed(0)
    result = torch.compile(module, backend=backend)(*inputs)
    loss = (result[0] if isinstance(result, tuple) else result).sum()
    loss.backward()
    return [loss.detach(), [parameter.grad for parameter in module.parameters()]]


def transformer_layer():
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return _trained(layer, torch.randn(2, 4, 8))


def transformer_of_two_layers_with_eager():
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    return _trained(torch.nn.TransformerEncoder(layer, 2), torch.randn(2, 4, 8), backend="eager")


def convolutions():
    module = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 2))
    return _trained(module, torch.randn(1, 1, 4, 4))


def embedding_bag():
    module = torch.nn.EmbeddingBag(10, 3)
    return _trained(module, torch.tensor([1, 2, 4]), torch.tensor([0, 2]))


def gated_recurrence():
    return _trained(torch.nn.GRU(3, 3), torch.randn(4, 1, 3), backend="eager")


def residual_blocks():
    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.norm = torch.nn.Linear(4, 4), torch.nn.LayerNorm(4)

        def forward(self, x):
            return x + self.norm(torch.relu(self.linear(x)))

    return _trained(torch.nn.Sequential(*(Block() for _ in range(3))), torch.randn(2, 4))


def model_that_breaks():
    class Breaks(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(3))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
                if x.sum() > 1000:
                    x = x / 2
            return x

    return _trained(Breaks(), torch.randn(2, 3), backend="eager")


def generation_with_a_cache():
    class Grows(torch.nn.Module):
        def forward(self, x, cache):
            cache.append(x)
            return torch.cat(cache).sum(0)

    cache: list[torch.Tensor] = []
    compiled = torch.compile(Grows(), backend="eager")
    return [compiled(torch.ones(1, 2), cache) for _ in range(4)]
