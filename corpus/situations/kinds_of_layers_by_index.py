# pytorch/pytorch#171593, huggingface/transformers#39484: each layer is compiled alone and reads its own index.
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F


@dataclass
class Config:
    width: int = 8
    layers: int = 12
    layer_types: list = field(default_factory=lambda: ["sliding", "sliding", "full"] * 4)


class Layer(torch.nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx
        self.config = config
        self.project = torch.nn.Linear(config.width, config.width)

    def forward(self, hidden, masks):
        mask = masks[self.config.layer_types[self.layer_idx]]  # here: index
        scores = hidden @ hidden.transpose(-1, -2)
        return hidden + self.project((scores + mask).softmax(-1) @ hidden)


class Model(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(config, index) for index in range(config.layers))

    def forward(self, hidden):
        length = hidden.shape[1]
        full = torch.full((length, length), float("-inf")).triu(1)
        sliding = full + torch.full((length, length), float("-inf")).tril(-2)
        for layer in self.layers:
            hidden = layer(hidden, {"full": full, "sliding": sliding})
        return F.normalize(hidden, dim=-1)


model = Model(Config())
for layer in model.layers:
    layer.compile(backend="eager")
with torch.no_grad():
    for _ in range(2):
        model(torch.randn(2, 6, 8))
