"""Any architecture of `transformers` with random weights, as small as can be: nothing is downloaded."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

LARGEST = 30_000_000
"""The most parameters of a model that is run."""
SIZES = {
    "vocab_size": 99,
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embedding_size", "word_embed_proj_dim"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "num_layers", "n_layers", "num_key_value_heads"), 2),
    **dict.fromkeys(("num_attention_heads", "num_heads", "n_head", "n_heads", "state_size"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads", "n_routed_experts"), 4),
    **dict.fromkeys(("intermediate_size", "d_ff", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_dim", "hidden_dim"), 64),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx"), 64),
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 1),
    **dict.fromkeys(("d_kv", "head_dim", "patch_size"), 8),
    **dict.fromkeys(("num_local_experts", "num_experts", "num_experts_per_tok", "type_vocab_size"), 2),
    **dict.fromkeys(("image_size", "moe_intermediate_size"), 32),
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 0,
}
"""The sizes that a configuration gets where its own are larger."""


def architectures(seed: int = 0) -> Iterator[str]:
    """Yield the name of each architecture with a model of its own, in a random order that is always the same."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    names = sorted(set(CONFIG_MAPPING_NAMES) & set(MODEL_MAPPING_NAMES))
    random.Random(seed).shuffle(names)
    classes: set[str] = set()
    for name in names:
        kind = str(MODEL_MAPPING_NAMES[name])
        if kind not in classes:
            classes.add(kind)
            yield name


class TooLargeError(Exception):
    """A model has more than `LARGEST` parameters although its configuration is small."""


def build(name: str) -> tuple[nn.Module, dict[str, Tensor]]:
    """Return the model of an architecture and arguments for its forward, always the same ones.

    Raises:
        TooLargeError: it is too large. Whatever transformers raises for a configuration that does not fit.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import MODEL_MAPPING

    kind = CONFIG_MAPPING[name]
    configuration = kind()
    _shrink(configuration)
    classes = MODEL_MAPPING[kind]
    torch.manual_seed(0)
    with torch.device("meta"):
        shape = (classes[0] if isinstance(classes, tuple) else classes)(configuration)
    if sum(parameter.numel() for parameter in shape.parameters()) > LARGEST:
        raise TooLargeError(name)
    model: nn.Module = type(shape)(configuration).eval()
    return model, _arguments(model, configuration)


def _shrink(configuration: Any) -> None:  # noqa: ANN401 - transformers may be missing
    from transformers import PretrainedConfig

    waiting = [configuration]
    while waiting:
        current = waiting.pop()
        for name, size in SIZES.items():
            before = getattr(current, name, None)
            if isinstance(before, bool) or not isinstance(before, int):
                continue
            if before > size or name.endswith("token_id"):
                setattr(current, name, size)
        waiting += [nested for nested in vars(current).values() if isinstance(nested, PretrainedConfig)]
        types = getattr(current, "layer_types", None)
        if isinstance(types, list):
            current.layer_types = types[: current.num_hidden_layers]


def _arguments(model: nn.Module, configuration: Any) -> dict[str, Tensor]:  # noqa: ANN401 - transformers may be missing
    name = str(getattr(model, "main_input_name", "input_ids"))
    if name == "pixel_values":
        size = getattr(getattr(configuration, "vision_config", configuration), "image_size", 32)
        return {name: torch.randn(1, getattr(configuration, "num_channels", 3), *[_number(size)] * 2)}
    if name == "input_features":
        return {name: torch.randn(1, getattr(configuration, "num_mel_bins", 80), 100)}
    if name == "input_values":
        return {name: torch.randn(1, 4000)}
    tokens = {name: torch.randint(3, 50, (1, 9))}
    if getattr(configuration, "is_encoder_decoder", False):
        tokens["decoder_input_ids"] = torch.randint(3, 50, (1, 5))
    return tokens


def _number(size: object) -> int:
    return size if isinstance(size, int) else 32
