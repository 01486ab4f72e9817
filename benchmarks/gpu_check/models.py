"""Five models of the size of a small GPU job, with random weights; in the small form each has one tiny layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Sizes:
    """Layers, width, batch and length of the models."""

    layers: int
    width: int
    batch: int
    length: int


LARGE, SMALL = Sizes(4, 256, 8, 128), Sizes(1, 32, 2, 8)
VOCABULARY = 512


def gpt2(sizes: Sizes) -> tuple[nn.Module, tuple[Any, ...]]:
    """Return a GPT-2 and its tokens."""
    from transformers import GPT2Config, GPT2LMHeadModel

    names = {"n_positions": sizes.length, "n_embd": sizes.width, "n_layer": sizes.layers, "n_head": 4}
    config = GPT2Config(vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2, use_cache=False, **names)
    return GPT2LMHeadModel(config), (_tokens(sizes),)


def bert(sizes: Sizes) -> tuple[nn.Module, tuple[Any, ...]]:
    """Return a BERT and its tokens."""
    from transformers import BertConfig, BertModel

    names = {"hidden_size": sizes.width, "num_hidden_layers": sizes.layers, "intermediate_size": 2 * sizes.width}
    return BertModel(BertConfig(vocab_size=VOCABULARY, num_attention_heads=4, **names)), (_tokens(sizes),)


def _tokens(sizes: Sizes) -> Tensor:
    return torch.randint(3, VOCABULARY, (sizes.batch, sizes.length))


class Residual(nn.Module):
    """Two convolutions with a shortcut, as in a ResNet."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's result."""
        hidden = torch.relu(self.norms[0](self.first(x)))
        return torch.relu(x + self.norms[1](self.second(hidden)))


def resnet(sizes: Sizes) -> tuple[nn.Module, tuple[Any, ...]]:
    """Return a small ResNet and its images."""
    channels = sizes.width // 4
    blocks = [Residual(channels) for _ in range(sizes.layers)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10)]
    return nn.Sequential(nn.Conv2d(3, channels, 3), *blocks, *head), (torch.randn(sizes.batch, 3, 32, 32),)


class UNetBlock(nn.Module):
    """A block of a diffusion U-Net: group norms, convolutions, the time's embedding, and attention."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.GroupNorm(4, channels) for _ in range(3))
        self.first, self.second = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.time = nn.Linear(channels, channels)
        self.attention = nn.MultiheadAttention(channels, 4, batch_first=True)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """Return the block's result."""
        hidden = self.first(nn.functional.silu(self.norms[0](x)))
        hidden = hidden + self.time(nn.functional.silu(time))[:, :, None, None]
        hidden = x + self.second(nn.functional.silu(self.norms[1](hidden)))
        rows = self.norms[2](hidden).flatten(2).transpose(1, 2)
        seen, _ = self.attention(rows, rows, rows, need_weights=False)
        return hidden + seen.transpose(1, 2).reshape(hidden.shape)


def unet(sizes: Sizes) -> tuple[nn.Module, tuple[Any, ...]]:
    """Return a U-Net block, and its images and times."""
    channels = sizes.width // 2
    return UNetBlock(channels), (torch.randn(sizes.batch, channels, 16, 16), torch.randn(sizes.batch, channels))


class LanguageModel(nn.Module):
    """An LSTM over tokens, which Dynamo does not trace into by default."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, sizes.width)
        self.cells = nn.LSTM(sizes.width, sizes.width, sizes.layers, batch_first=True)
        self.head = nn.Linear(sizes.width, VOCABULARY)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits."""
        hidden, _ = self.cells(self.tokens(tokens))
        return self.head(torch.relu(hidden))


def lstm(sizes: Sizes) -> tuple[nn.Module, tuple[Any, ...]]:
    """Return an LSTM language model and its tokens."""
    return LanguageModel(sizes), (_tokens(sizes),)


MODELS: dict[str, Callable[[Sizes], tuple[nn.Module, tuple[Any, ...]]]] = {
    "gpt2": gpt2,
    "bert": bert,
    "resnet": resnet,
    "unet": unet,
    "lstm": lstm,
}


def loss_of(output: Any) -> Tensor:  # noqa: ANN401 - what a model returns
    """Return a scalar that depends on the model's first result."""
    first = output if isinstance(output, Tensor) else next(iter(output.values()))
    return first.float().square().mean()
