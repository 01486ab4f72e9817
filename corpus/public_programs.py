"""Twelve programs around models of a public repository, transformers, small and with random weights.

Each is what its users do: a forward for several lengths, with a mask or labels, a training step, `generate`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")

SMALL: dict[str, Any] = {"vocab_size": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
HEADS = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
GPT2 = {"n_layer": 2, "n_embd": 32, "n_head": 2, "n_positions": 64}
T5 = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
BART = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2} | {
    "decoder_attention_heads": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 64,
    "decoder_start_token_id": 2,
}
LENGTHS = (8, 12, 16)

Step = Callable[[Any, int], None]


def _model(config: str, model: str, **settings: Any) -> Any:  # noqa: ANN401 - a model of any class
    import transformers

    torch.manual_seed(0)
    return getattr(transformers, model)(getattr(transformers, config)(**SMALL | settings))


def _tokens(length: int) -> torch.Tensor:
    return torch.randint(3, 64, (2, length))


def forward(model: Any, length: int) -> None:  # noqa: ANN401 - a model of any class
    """Call a model as for an answer."""
    with torch.no_grad():
        model(_tokens(length))


def masked(model: Any, length: int) -> None:  # noqa: ANN401
    """Call a model with a mask."""
    tokens = _tokens(length)
    with torch.no_grad():
        model(input_ids=tokens, attention_mask=torch.ones_like(tokens))


def training(model: Any, length: int) -> None:  # noqa: ANN401
    """Call a model with labels, and compute gradients."""
    tokens = _tokens(length)
    model(input_ids=tokens, labels=tokens).loss.backward()


def _stepped(config: str, model: str, step: Step, **settings: object) -> Callable[[str], None]:
    def run(backend: str) -> None:
        compiled = torch.compile(_model(config, model, **settings), backend=backend)
        for length in LENGTHS:
            step(compiled, length)

    return run


def _generate(backend: str) -> None:
    model = _model("GPT2Config", "GPT2LMHeadModel", **GPT2).eval()
    model.forward = torch.compile(model.forward, backend=backend)
    for length in LENGTHS[:2]:
        model.generate(_tokens(length), max_new_tokens=3, do_sample=False)


def _optimized(backend: str) -> None:
    model = _model("LlamaConfig", "LlamaForCausalLM", **HEADS)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile(backend=backend)
    def step(tokens: torch.Tensor) -> float:
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss.item())

    for length in LENGTHS:
        step(_tokens(length))


PROGRAMS: dict[str, Callable[[str], None]] = {
    "gpt2, forward": _stepped("GPT2Config", "GPT2LMHeadModel", forward, **GPT2),
    "gpt2, training": _stepped("GPT2Config", "GPT2LMHeadModel", training, **GPT2),
    "gpt2, generate": _generate,
    "llama, masked": _stepped("LlamaConfig", "LlamaForCausalLM", masked, **HEADS),
    "llama, optimizer": _optimized,
    "mistral, training": _stepped("MistralConfig", "MistralForCausalLM", training, num_key_value_heads=2, **HEADS),
    "bert, masked": _stepped("BertConfig", "BertModel", masked, **HEADS),
    "roberta, training": _stepped("RobertaConfig", "RobertaForCausalLM", training, is_decoder=True, **HEADS),
    "electra, forward": _stepped("ElectraConfig", "ElectraModel", forward, embedding_size=32, **HEADS),
    "gpt-neox, training": _stepped("GPTNeoXConfig", "GPTNeoXForCausalLM", training, **HEADS),
    "t5, training": _stepped("T5Config", "T5ForConditionalGeneration", training, **T5),
    "bart, training": _stepped("BartConfig", "BartForConditionalGeneration", training, **BART),
}
