"""Models of `transformers` and `timm` built from their configurations, as small as they can be: nothing is downloaded.

`timm` imports `torchvision`, whose builds on PyPI need CUDA: `pip install --no-deps timm torchvision pillow` is enough
here, with the two operators declared that it insists on when it is imported.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from corpus.small_models import BATCH, LENGTH, VOCABULARY, Training

BACKENDS = ("eager", "aot_eager", "inductor")
PIXELS = 64

_TINY = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_GPT = {"n_embd": 32, "n_layer": 1, "n_head": 4, "n_positions": 32, "rotary_dim": 4}
_PAIR = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "decoder_start_token_id": 0,
}
_PATCHES = {"image_size": 32, "patch_size": 8}
_STAGES = {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 1, 2, 2]}

_TRANSFORMERS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "Bert": ("BertModel", {}),
    "Roberta": ("RobertaModel", {}),
    "Albert": ("AlbertModel", {"embedding_size": 16}),
    "DistilBert": ("DistilBertModel", {"dim": 32, "hidden_dim": 64, "n_layers": 1, "n_heads": 4}),
    "MPNet": ("MPNetModel", {}),
    "DebertaV2": ("DebertaV2Model", {}),
    "FNet": ("FNetModel", {}),
    "ModernBert": ("ModernBertModel", {}),
    "ConvBert": ("ConvBertModel", {"embedding_size": 32}),
    "GPT2": ("GPT2LMHeadModel", _GPT),
    "GPTNeo": ("GPTNeoForCausalLM", {"num_layers": 1, "num_heads": 4, "attention_types": [[["local"], 1]]}),
    "OPT": ("OPTForCausalLM", {"ffn_dim": 64, "word_embed_proj_dim": 32}),
    "Bloom": ("BloomForCausalLM", {"n_layer": 1, "n_head": 4}),
    "Llama": ("LlamaForCausalLM", {}),
    "Mistral": ("MistralForCausalLM", {"sliding_window": 8, "head_dim": 8}),
    "Mixtral": ("MixtralForCausalLM", {"num_local_experts": 2, "head_dim": 8}),
    "Qwen3": ("Qwen3ForCausalLM", {"head_dim": 8}),
    "Gemma2": ("Gemma2ForCausalLM", {"head_dim": 8}),
    "Mamba": ("MambaForCausalLM", {"state_size": 4}),
    "Bart": ("BartForConditionalGeneration", _PAIR),
    "ViT": ("ViTModel", _PATCHES),
    "Dinov2": ("Dinov2Model", _PATCHES),
    "ResNet": ("ResNetModel", {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]}),
    "Segformer": ("SegformerModel", _STAGES),
}
"""By the architecture's name: the class, and what its configuration has beside the sizes that most have."""

_TIMM = (
    "test_byobnet",
    "test_convnext",
    "test_efficientnet",
    "test_efficientnet_evos",
    "test_mambaout",
    "test_nfnet",
    "test_resnet",
    "test_vit",
    "test_vit4",
    "lcnet_035",
)


def _of_transformers(name: str, kind: str, settings: Mapping[str, Any]) -> nn.Module:
    _operators_of_torchvision()
    import transformers

    configuration = getattr(transformers, f"{name}Config")(**{**_TINY, **settings})
    model: nn.Module = getattr(transformers, kind)(configuration)
    return model


@functools.cache
def _operators_of_torchvision() -> torch.library.Library:
    """Declare them before `torchvision` is imported, which `transformers` does too where it is installed."""
    declared = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        declared.define(f"{name}(Tensor dets, Tensor scores, float t) -> Tensor")
    return declared


def _of_timm(name: str) -> nn.Module:
    _operators_of_torchvision()
    import timm

    model: nn.Module = timm.create_model(name, num_classes=10)
    return model


def _pixels(size: int, key: str) -> dict[str, Tensor]:
    return {key: torch.randn(BATCH, 3, size, size)}


def _tokens(*, with_labels: bool) -> dict[str, Tensor]:
    tokens = torch.randint(3, VOCABULARY, (BATCH, LENGTH))
    return {"input_ids": tokens, "labels": tokens.clone()} if with_labels else {"input_ids": tokens}


def _inputs_of(kind: str, settings: Mapping[str, Any]) -> Callable[[], dict[str, Tensor]]:
    if settings in (_PATCHES, _STAGES) or "depths" in settings:
        return functools.partial(_pixels, 32, "pixel_values")
    return functools.partial(_tokens, with_labels=not kind.endswith("Model"))


def _size_for(name: str) -> int:
    return 160 if "vit" in name and name.startswith("test_") else PIXELS


REAL_MODELS = {
    name: Training(functools.partial(_of_transformers, name, kind, settings), _inputs_of(kind, settings), BACKENDS)
    for name, (kind, settings) in _TRANSFORMERS.items()
} | {
    f"timm.{name}": Training(
        functools.partial(_of_timm, name), functools.partial(_pixels, _size_for(name), "x"), BACKENDS
    )
    for name in _TIMM
}
"""Trainings of the models by name."""
