# pytorch/tutorials regional_compilation: blocks are compiled in place; saved, loaded into a second model, and served.
import io

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + self.linear2(torch.nn.functional.gelu(self.linear1(self.norm(x))))


class Stack(nn.Module):
    def __init__(self, width=8, depth=6):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def regional(model):
    for layer in model.layers:
        layer.compile(backend="aot_eager", fullgraph=True)
    return model


torch.manual_seed(0)
model = regional(Stack())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).square().mean().backward()
    optimizer.step()
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
file.seek(0)
served = Stack()
served.load_state_dict(torch.load(file)["model"])
served = regional(served.eval())
with torch.inference_mode():
    for _ in range(3):
        served(torch.randn(6, 4))
