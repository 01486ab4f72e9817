"""huggingface/peft: an adapter is added and made the active one after the base model was compiled."""

# ruff: noqa: E402

import torch

operators = torch.library.Library("torchvision", "DEF")  # its CPU build lacks both
operators.define("nms(Tensor dets, Tensor scores, float t) -> Tensor")
operators.define("qnms(Tensor dets, Tensor scores, float t) -> Tensor")
from peft import LoraConfig, get_peft_model
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16)
        self.v_proj = nn.Linear(16, 16)

    def forward(self, x):
        return self.v_proj(torch.relu(self.q_proj(x)))


torch.manual_seed(0)
model = get_peft_model(Block(), LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]), "first")
model.eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    compiled(torch.ones(2, 16))
    model.add_adapter("second", LoraConfig(r=8, lora_alpha=32, target_modules=["q_proj", "v_proj"]))
    model.set_adapter("second")
    compiled(torch.ones(2, 16))
    with model.disable_adapter():
        compiled(torch.ones(2, 16))
    model.set_adapter("first")
    compiled(torch.ones(2, 16))
