"""Models of twenty kinds with random weights, small, but with steps that take milliseconds."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

os.environ.setdefault("HF_HUB_OFFLINE", "1")

BATCH, LENGTH, WIDTH, WORDS = 4, 96, 192, 512


@dataclass(frozen=True)
class Family:
    """A model and the inputs of a step."""

    build: Callable[[], nn.Module]
    inputs: Callable[[], dict[str, Tensor]]
    is_training: bool = False


def _tokens() -> dict[str, Tensor]:
    return {"input_ids": torch.randint(3, WORDS, (BATCH, LENGTH))}


def _hidden() -> dict[str, Tensor]:
    return {"x": torch.randn(BATCH, LENGTH, WIDTH)}


def _image() -> dict[str, Tensor]:
    return {"x": torch.randn(BATCH, 16, 32, 32)}


def _encoder() -> nn.Module:
    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, 0.0, batch_first=True)
            self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

        def forward(self, x: Tensor) -> Tensor:
            output: Tensor = self.layers(x)
            return output

    return Encoder()


def _gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2Model

    return GPT2Model(GPT2Config(vocab_size=WORDS, n_positions=128, n_embd=WIDTH, n_layer=2, n_head=4, use_cache=False))


def _llama() -> nn.Module:
    from transformers import LlamaConfig, LlamaModel

    sizes = {"hidden_size": WIDTH, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4}
    return LlamaModel(LlamaConfig(vocab_size=WORDS, use_cache=False, **sizes))


def _bert() -> nn.Module:
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": WIDTH, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4}
    return BertModel(BertConfig(vocab_size=WORDS, **sizes))


def _t5() -> nn.Module:
    from transformers import T5Config, T5EncoderModel

    return T5EncoderModel(T5Config(vocab_size=WORDS, d_model=WIDTH, d_kv=48, d_ff=512, num_layers=2, num_heads=4))


def _vit() -> nn.Module:
    from transformers import ViTConfig, ViTModel

    sizes = {"hidden_size": WIDTH, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4}
    return ViTModel(ViTConfig(image_size=64, patch_size=8, **sizes))


class _Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        h = functional.relu(self.norm(self.first(x)))
        return functional.relu(x + self.second(h))


def _resnet() -> nn.Module:
    class ResNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.Sequential(*(_Residual(16) for _ in range(3)))
            self.head = nn.Linear(16, 10)

        def forward(self, x: Tensor) -> Tensor:
            pooled = self.blocks(x).mean((2, 3))
            output: Tensor = self.head(pooled)
            return output

    return ResNet()


def _unet() -> nn.Module:
    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down, self.inner, self.up = _Residual(16), _Residual(16), _Residual(16)
            self.join = nn.Conv2d(32, 16, 1)

        def forward(self, x: Tensor) -> Tensor:
            a = self.down(x)
            b = self.inner(functional.max_pool2d(a, 2))
            b = functional.interpolate(b, scale_factor=2.0)
            output: Tensor = self.up(self.join(torch.cat([a, b], 1)))
            return output

    return UNet()


def _mixture() -> nn.Module:
    class Mixture(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate = nn.Linear(WIDTH, 4)
            self.experts = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))

        def forward(self, x: Tensor) -> Tensor:
            weights = torch.softmax(self.gate(x), -1)
            outputs = torch.stack([functional.gelu(expert(x)) for expert in self.experts], -1)
            return (outputs * weights.unsqueeze(-2)).sum(-1)

    return Mixture()


def _lstm() -> nn.Module:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.LSTMCell(WIDTH, WIDTH)

        def forward(self, x: Tensor) -> Tensor:
            h = c = x.new_zeros(x.shape[0], WIDTH)
            for step in range(16):
                h, c = self.cell(x[:, step], (h, c))
            return h

    return Recurrent()


def _nanogpt() -> nn.Module:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.other = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.wide, self.back = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Tensor) -> Tensor:
            size = x.shape[0], x.shape[1], 4, WIDTH // 4
            q, k, v = (part.view(size).transpose(1, 2) for part in self.qkv(self.norm(x)).split(WIDTH, 2))
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(x.shape))
            output: Tensor = x + self.back(functional.gelu(self.wide(self.other(x))))
            return output

    class NanoGPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(WORDS, WIDTH)
            self.blocks = nn.ModuleList(Block() for _ in range(2))

        def forward(self, input_ids: Tensor) -> Tensor:
            x = self.words(input_ids)
            for block in self.blocks:
                x = block(x)
            return x @ self.words.weight.t()

    return NanoGPT()


def _flex() -> nn.Module:
    class Flex(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH)

        def forward(self, x: Tensor) -> Tensor:
            from torch.nn.attention.flex_attention import flex_attention

            def near(score: Tensor, b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
                return score - (q - k).abs()

            size = x.shape[0], x.shape[1], 4, WIDTH // 4
            q, k, v = (part.reshape(size).transpose(1, 2) for part in self.qkv(x).split(WIDTH, 2))
            output: Tensor = flex_attention(q, k, v, score_mod=near)
            return output * 2

    return Flex()


def _perceptron() -> nn.Module:
    class Perceptron(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(WIDTH, 512), nn.ReLU(), nn.Linear(512, WIDTH))

        def forward(self, x: Tensor) -> Tensor:
            output: Tensor = functional.layer_norm(self.layers(x), (WIDTH,))
            return output

    return Perceptron()


def _mixer() -> nn.Module:
    class Mixer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.channels = nn.Linear(LENGTH, LENGTH), nn.Linear(WIDTH, WIDTH)

        def forward(self, x: Tensor) -> Tensor:
            x = x + self.tokens(x.transpose(1, 2)).transpose(1, 2)
            output: Tensor = x + functional.gelu(self.channels(x))
            return output

    return Mixer()


def _broken() -> nn.Module:
    class Broken(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(WIDTH, WIDTH)

        def forward(self, x: Tensor) -> Tensor:
            h = torch.tanh(self.inner(x))
            torch._dynamo.graph_break()
            return torch.relu(self.inner(h))

    return Broken()


_PIXELS: Callable[[], dict[str, Tensor]] = lambda: {"pixel_values": torch.randn(BATCH, 3, 64, 64)}  # noqa: E731

FAMILIES: dict[str, Family] = {
    "encoder": Family(_encoder, _hidden),
    "nanogpt": Family(_nanogpt, _tokens),
    "mixture": Family(_mixture, _hidden),
    "resnet": Family(_resnet, _image),
    "unet": Family(_unet, _image),
    "lstm": Family(_lstm, _hidden),
    "flex_attention": Family(_flex, _hidden),
    "perceptron": Family(_perceptron, _hidden),
    "mixer": Family(_mixer, _hidden),
    "broken": Family(_broken, _hidden),
    "gpt2": Family(_gpt2, _tokens),
    "llama": Family(_llama, _tokens),
    "bert": Family(_bert, _tokens),
    "t5": Family(_t5, _tokens),
    "vit": Family(_vit, _PIXELS),
}
FAMILIES |= {
    f"{name}, training": replace(FAMILIES[name], is_training=True)
    for name in ("encoder", "nanogpt", "resnet", "perceptron", "mixer")
}
