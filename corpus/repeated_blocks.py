"""Models whose layers are equal graphs, and models whose layers only look alike, small and with random weights."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

os.environ.setdefault("HF_HUB_OFFLINE", "1")

LAYERS = 6
Make = Callable[[], "tuple[nn.Module, dict[str, Any]]"]
SMALL: dict[str, Any] = {"vocab_size": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
HEADS = {"hidden_size": 32, "num_hidden_layers": LAYERS, "num_attention_heads": 2, "intermediate_size": 64}
GPT2 = {"n_layer": LAYERS, "n_embd": 32, "n_head": 2, "n_positions": 64}
T5 = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": LAYERS, "num_heads": 2, "decoder_start_token_id": 0}
BART: dict[str, Any] = {"d_model": 32, "encoder_layers": LAYERS, "decoder_layers": LAYERS}
BART |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}
BART |= {"max_position_embeddings": 64}


@dataclass(frozen=True)
class Example:
    """A model with the arguments of a call.

    blocks: the number of equal blocks in each run of its layers, the most first; empty if its layers differ. In T5
        the first layer also computes the relative positions.
    """

    make: Make
    blocks: tuple[int, ...]


def _transformer(config: str, model: str, **settings: Any) -> Make:
    def make() -> tuple[nn.Module, dict[str, Any]]:
        import transformers

        torch.manual_seed(0)
        transformer = getattr(transformers, model)(getattr(transformers, config)(**SMALL | settings)).eval()
        tokens = torch.randint(3, 64, (2, 8))
        more = {"decoder_input_ids": tokens} if transformer.config.is_encoder_decoder else {}
        return transformer, {"input_ids": tokens, **more}

    return make


class Residual(nn.Module):
    """A block of a multilayer perceptron."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the sum of the input and what the block computes."""
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Convolution(nn.Module):
    """A block of a residual network."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the activation of the sum of the input and two convolutions."""
        return torch.relu(x + self.second(torch.relu(self.first(x))))


class Scaled(nn.Module):
    """Blocks that differ in a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Residual(16, 32) for _ in range(LAYERS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply each layer to the input, scaled by its number."""
        for number, layer in enumerate(self.layers):
            x = layer(x * (1.0 + number))
        return x


class Functional(nn.Module):
    """A loop over weights, without modules."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(torch.randn(16, 16) / 4) for _ in range(LAYERS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply each weight."""
        for weight in self.weights:
            x = x + torch.relu(x @ weight).sin() * 0.5
        return x


def _sequence(*blocks: Callable[[], nn.Module], shape: tuple[int, ...]) -> Make:
    def make() -> tuple[nn.Module, dict[str, Any]]:
        torch.manual_seed(0)
        return nn.Sequential(*(block() for block in blocks)), {"input": torch.randn(shape)}

    return make


def _own(model: type[nn.Module]) -> Make:
    def make() -> tuple[nn.Module, dict[str, Any]]:
        torch.manual_seed(0)
        return model().eval(), {"x": torch.randn(4, 16)}

    return make


MODELS: dict[str, Example] = {
    "gpt2": Example(_transformer("GPT2Config", "GPT2LMHeadModel", **GPT2), (LAYERS,)),
    "llama": Example(_transformer("LlamaConfig", "LlamaForCausalLM", **HEADS), (LAYERS,)),
    "mistral": Example(_transformer("MistralConfig", "MistralForCausalLM", num_key_value_heads=2, **HEADS), (LAYERS,)),
    "bert": Example(_transformer("BertConfig", "BertModel", **HEADS), (LAYERS,)),
    "roberta": Example(_transformer("RobertaConfig", "RobertaModel", **HEADS), (LAYERS,)),
    "electra": Example(_transformer("ElectraConfig", "ElectraModel", embedding_size=32, **HEADS), (LAYERS,)),
    "gpt-neox": Example(_transformer("GPTNeoXConfig", "GPTNeoXForCausalLM", **HEADS), (LAYERS,)),
    "qwen2": Example(_transformer("Qwen2Config", "Qwen2ForCausalLM", num_key_value_heads=2, **HEADS), (LAYERS,)),
    "t5": Example(_transformer("T5Config", "T5ForConditionalGeneration", **T5), (LAYERS - 1, LAYERS - 1)),
    "bart": Example(_transformer("BartConfig", "BartForConditionalGeneration", **BART), (LAYERS, LAYERS)),
    "encoder": Example(
        _sequence(*[lambda: nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)] * LAYERS, shape=(2, 4, 16)),
        (LAYERS,),
    ),
    "perceptron": Example(_sequence(*[lambda: Residual(16, 32)] * 12, shape=(4, 16)), (12,)),
    "residual network": Example(_sequence(*[lambda: Convolution(4)] * 8, shape=(1, 4, 8, 8)), (8,)),
    "two widths": Example(
        _sequence(
            *[lambda: Residual(16, 32)] * 5, lambda: nn.Linear(16, 24), *[lambda: Residual(24, 48)] * 4, shape=(4, 16)
        ),
        (5, 4),
    ),
    "functional": Example(_own(Functional), (LAYERS,)),
    "scaled": Example(_own(Scaled), ()),
    "growing": Example(
        _sequence(*[lambda inner=inner: Residual(16, inner) for inner in range(32, 38)], shape=(4, 16)), ()
    ),
    "few": Example(_sequence(*[lambda: Residual(16, 32)] * 3, shape=(4, 16)), ()),
}
"""The models by name."""
