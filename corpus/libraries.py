"""One small program for each library: a function that returns what can be compared.

Each compiles as the library's documentation says, with weights and data that the program makes itself.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch


def _weights(module: torch.nn.Module) -> list[torch.Tensor]:
    return [parameter.detach() for parameter in module.parameters()]


def _small() -> torch.nn.Sequential:
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))


def _bert() -> Any:
    from transformers import BertConfig, BertForSequenceClassification

    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    return BertForSequenceClassification(BertConfig(vocab_size=50, max_position_embeddings=16, **sizes))


def lightning() -> object:
    """A trainer runs three steps of a compiled module."""
    import lightning as pl

    class Regression(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = _small()

        def training_step(self, batch: Any, _: int) -> torch.Tensor:
            return self.model(batch[0]).pow(2).mean()

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    logging.getLogger("lightning").setLevel(logging.ERROR)
    module = Regression()
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(12, 4)), batch_size=4)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = pl.Trainer(max_steps=3, accelerator="cpu", devices=1, enable_model_summary=False, **quiet)
    trainer.fit(torch.compile(module, backend="aot_eager"), data)
    return _weights(module)


def accelerate() -> object:
    """`prepare` compiles a model that is trained for three steps."""
    from accelerate import Accelerator
    from accelerate.utils import TorchDynamoPlugin

    accelerator = Accelerator(cpu=True, dynamo_plugin=TorchDynamoPlugin(backend="inductor"))
    model = _small()
    prepared, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    for _ in range(3):
        loss = prepared(torch.randn(3, 4)).pow(2).mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    return _weights(model)


def trainer() -> object:
    """Transformers' trainer with `torch_compile`."""
    from transformers import Trainer, TrainingArguments

    rows = [{"input_ids": torch.randint(0, 50, (8,)), "labels": torch.tensor(number % 2)} for number in range(6)]
    model = _bert()
    with tempfile.TemporaryDirectory() as scratch:
        arguments = TrainingArguments(
            scratch,
            max_steps=3,
            per_device_train_batch_size=2,
            use_cpu=True,
            torch_compile=True,
            torch_compile_backend="aot_eager",
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        )
        Trainer(model, arguments, train_dataset=rows).train()
    return _weights(model)


def peft() -> object:
    """A model with LoRA, compiled and trained for two steps."""
    from peft import LoraConfig, get_peft_model

    model = get_peft_model(_bert(), LoraConfig(r=2, target_modules=["query", "value"], task_type="SEQ_CLS"))
    optimizer = torch.optim.SGD([parameter for parameter in model.parameters() if parameter.requires_grad], lr=0.1)
    compiled = torch.compile(model, backend="aot_eager")
    for _ in range(2):
        compiled(input_ids=torch.randint(0, 50, (2, 8)), labels=torch.tensor([0, 1])).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return _weights(model)


def torchao() -> object:
    """A quantised model, compiled."""
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 32)).eval()
    quantize_(model, Int8WeightOnlyConfig())
    compiled = torch.compile(model)
    with torch.no_grad():
        return [compiled(torch.randn(2, 32)) for _ in range(2)]


def diffusers() -> object:
    """Three steps of a small UNet, whose repeated blocks are compiled."""
    from diffusers import DDIMScheduler, UNet2DModel

    widths = {"block_out_channels": (8, 8), "norm_num_groups": 4, "layers_per_block": 1, "sample_size": 8}
    blocks = {"down_block_types": ("DownBlock2D", "DownBlock2D"), "up_block_types": ("UpBlock2D", "UpBlock2D")}
    model = UNet2DModel(in_channels=1, out_channels=1, **widths, **blocks).eval()
    compiled = torch.compile(model, backend="eager")
    scheduler = DDIMScheduler(num_train_timesteps=10)
    scheduler.set_timesteps(3)
    sample = torch.randn(1, 1, 8, 8)
    with torch.no_grad():
        for time in scheduler.timesteps:
            sample = scheduler.step(compiled(sample, time).sample, time, sample).prev_sample
    return sample


def tensordict() -> object:
    """A sequence of modules over a TensorDict, compiled."""
    from tensordict import TensorDict
    from tensordict.nn import TensorDictModule, TensorDictSequential

    first = TensorDictModule(torch.nn.Linear(3, 4), in_keys=["x"], out_keys=["hidden"])
    second = TensorDictModule(torch.nn.Linear(4, 2), in_keys=["hidden"], out_keys=["y"])
    compiled = torch.compile(TensorDictSequential(first, second), backend="aot_eager")
    output = compiled(TensorDict({"x": torch.randn(5, 3)}, [5]))
    return [output["hidden"], output["y"], sorted(output.keys())]


def torchrl() -> object:
    """The loss of a deep Q network, compiled, forward and backward."""
    from tensordict import TensorDict
    from torchrl.data import OneHot
    from torchrl.modules import QValueActor
    from torchrl.objectives import DQNLoss

    actor = QValueActor(module=torch.nn.Linear(3, 4), in_keys=["observation"], spec=OneHot(4))
    loss = DQNLoss(actor, action_space=OneHot(4), delay_value=False)
    batch = [6]
    after = {"observation": torch.randn(6, 3), "reward": torch.randn(6, 1), "done": torch.zeros(6, 1, dtype=torch.bool)}
    after["terminated"] = after["done"]
    action = torch.nn.functional.one_hot(torch.randint(0, 4, (6,)), 4)
    data = TensorDict({"observation": torch.randn(6, 3), "action": action, "next": TensorDict(after, batch)}, batch)
    value = torch.compile(loss, backend="aot_eager")(data)["loss"]
    value.backward()
    return [value, [parameter.grad for parameter in loss.parameters() if parameter.grad is not None]]


def torch_geometric() -> object:
    """Two convolutions over a graph, compiled with dynamic shapes, forward and backward."""
    from torch_geometric.nn import GCNConv

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = GCNConv(3, 8), GCNConv(8, 2)

        def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(x, edges).relu(), edges)

    model = Network()
    compiled = torch.compile(model, dynamic=True, backend="aot_eager")
    for nodes in (5, 7):
        edges = torch.randint(0, nodes, (2, 12))
        compiled(torch.randn(nodes, 3), edges).sum().backward()
    return [parameter.grad for parameter in model.parameters()]


def torchlens() -> object:
    """TorchLens records a model that runs eager, and the compiled model computes the same."""
    import torchlens as lens

    model, x = _small(), torch.randn(2, 4)
    recorded = lens.trace(model, x)
    compiled = torch.compile(model, backend="aot_eager")
    return [compiled(x), len(recorded.layer_labels)]


def vllm() -> object:
    """vLLM's backend compiles a model in pieces around an attention, for two numbers of tokens."""
    os.environ.update(VLLM_LOGGING_LEVEL="ERROR", VLLM_DISABLE_COMPILE_CACHE="1")
    from vllm.compilation.decorators import support_torch_compile
    from vllm.config import (
        CompilationConfig,
        CompilationMode,
        CUDAGraphMode,
        DeviceConfig,
        VllmConfig,
        set_current_vllm_config,
    )
    from vllm.config.compilation import PassConfig
    from vllm.forward_context import set_forward_context

    torch.library.custom_op("depyf_libraries::attention", _attention, mutates_args=()).register_fake(torch.empty_like)
    # Its own passes are written for GPUs.
    passes = {field.name: False for field in dataclasses.fields(PassConfig) if "bool" in str(field.type)}
    compilation = CompilationConfig(
        mode=CompilationMode.VLLM_COMPILE,
        backend="eager",
        splitting_ops=["depyf_libraries::attention"],
        cudagraph_mode=CUDAGraphMode.NONE,
        pass_config=PassConfig(**passes),
    )
    config = VllmConfig(compilation_config=compilation, device_config=DeviceConfig(device="cpu"))
    config.compilation_config.compile_sizes = []

    class Model(torch.nn.Module):
        def __init__(self, *, vllm_config: object, prefix: str = "") -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(torch.ops.depyf_libraries.attention(self.first(x).relu())) + 1

    with set_current_vllm_config(config), torch.no_grad(), set_forward_context(None, vllm_config=config):
        compiled_class = support_torch_compile(Model, dynamic_arg_dims={"x": 0})
        model = compiled_class(vllm_config=config, prefix="")
        return [model(torch.randn(tokens, 4)) for tokens in (3, 5)]


def _attention(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


@dataclass(frozen=True)
class Library:
    """A program, and what pip is told to install for it, line by line."""

    program: Callable[[], object]
    installs: tuple[str, ...]
    files: tuple[str, ...] = ()
    """Parts of names of files that its dump has to hold."""
    environment: str = "common"


LIBRARIES = {
    "torchlens": Library(torchlens, ("torchlens",)),
    "lightning": Library(lightning, ("lightning",)),
    "accelerate": Library(accelerate, ("accelerate",)),
    "trainer": Library(trainer, ("transformers accelerate",)),
    "peft": Library(peft, ("peft",)),
    "torchao": Library(torchao, ("torchao",)),
    "diffusers": Library(diffusers, ("diffusers",)),
    "tensordict": Library(tensordict, ("tensordict",)),
    "torchrl": Library(torchrl, ("torchrl",)),
    "torch_geometric": Library(torch_geometric, ("torch-geometric",)),
    # Its requirements fix another torch and bring what only GPUs need.
    "vllm": Library(
        vllm,
        (
            "--no-deps vllm",
            "regex cachetools psutil sentencepiece requests blake3 py-cpuinfo transformers protobuf fastapi[standard] "
            "aiohttp openai pydantic orjson prometheus_client pillow prometheus-fastapi-instrumentator tiktoken lark "
            "partial-json-parser jsonschema pyzmq msgspec pyyaml einops compressed-tensors cloudpickle watchfiles "
            "python-json-logger pybase64 cbor2 ijson setproctitle packaging",
        ),
        ("vllm_piecewise_split_graph", "Captured_Graph"),
        environment="vllm",
    ),
}
"""By name."""
