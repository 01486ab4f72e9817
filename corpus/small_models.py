"""Models of real architectures, small and with random weights: nothing is downloaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

os.environ.setdefault("HF_HUB_OFFLINE", "1")

BATCH, LENGTH, VOCABULARY = 2, 12, 64


@dataclass(frozen=True)
class Training:
    """A model, the inputs of one step, and the backends that it is asked for with."""

    build: Callable[[], nn.Module]
    inputs: Callable[[], dict[str, Tensor]]
    backends: tuple[str, ...] = ("eager", "aot_eager")


def _tokens() -> Tensor:
    return torch.randint(3, VOCABULARY, (BATCH, LENGTH))


def _masked() -> dict[str, Tensor]:
    mask = torch.ones(BATCH, LENGTH, dtype=torch.long)
    mask[0, -3:] = 0
    return {"input_ids": _tokens(), "attention_mask": mask}


def _with_labels() -> dict[str, Tensor]:
    tokens = _tokens()
    return {"input_ids": tokens, "labels": tokens.clone()}


def _encoder() -> nn.Module:
    layer = nn.TransformerEncoderLayer(d_model=32, nhead=4, dim_feedforward=64, dropout=0.1, batch_first=True)
    return nn.TransformerEncoder(layer, num_layers=2)


def _bert() -> nn.Module:
    from transformers import BertConfig, BertModel

    return BertModel(
        BertConfig(
            vocab_size=VOCABULARY,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=32,
        )
    )


def _gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=VOCABULARY,
            n_positions=32,
            n_embd=32,
            n_layer=2,
            n_head=4,
            bos_token_id=1,
            eos_token_id=2,
        )
    )


def _t5() -> nn.Module:
    from transformers import T5Config, T5ForConditionalGeneration

    return T5ForConditionalGeneration(
        T5Config(
            vocab_size=VOCABULARY,
            d_model=32,
            d_kv=8,
            d_ff=64,
            num_layers=2,
            num_heads=4,
            decoder_start_token_id=0,
        )
    )


def _llama() -> nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=32,
        )
    )


TRAININGS = {
    "encoder": Training(_encoder, lambda: {"src": torch.randn(BATCH, LENGTH, 32)}, ("inductor",)),
    "bert": Training(_bert, _masked),
    "gpt2": Training(_gpt2, _with_labels),
    "t5": Training(_t5, _with_labels),
    "llama": Training(_llama, _with_labels),
}


def _tensors(value: object, name: str = "output") -> dict[str, Tensor]:
    """Return every tensor that `value` holds, named by the way to it."""
    tensors: dict[str, Tensor] = {}
    pending: list[tuple[str, object]] = [(name, value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, Tensor):
            tensors[path] = item.detach().clone()
        elif isinstance(item, dict):
            pending.extend((f"{path}.{key}", part) for key, part in item.items())
        elif isinstance(item, (tuple, list)):
            pending.extend((f"{path}.{key}", part) for key, part in enumerate(item))
    return tensors


def _loss(output: object) -> Tensor:
    if isinstance(output, dict) and "loss" in output:
        return output["loss"]
    return next(tensor for tensor in _floats(output)).float().pow(2).mean()


def _floats(output: object) -> list[Tensor]:
    parts = output.values() if isinstance(output, dict) else [output]
    return [part for part in parts if isinstance(part, Tensor) and part.is_floating_point()]


def train(training: Training, backend: str, steps: int = 2) -> dict[str, Tensor]:
    """Run `steps` training steps of a compiled model; return every output, gradient and weight, by name.

    Forward and backward run compiled, the optimizer outside. The seed is fixed, dropout included.
    """
    torch.manual_seed(0)
    model = training.build().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    compiled = torch.compile(model, backend=backend)
    results: dict[str, Tensor] = {}
    for step in range(steps):
        output = compiled(**training.inputs())
        _loss(output).backward()
        results.update(_tensors(output, f"{step}.output"))
        grads = {key: weight.grad for key, weight in model.named_parameters() if weight.grad is not None}
        results.update(_tensors(grads, f"{step}.grad"))
        optimizer.step()
        optimizer.zero_grad()
    results.update(_tensors(dict(model.named_parameters()), "weight"))
    return results
