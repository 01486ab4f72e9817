# huggingface/peft#2416: the scale of an adapter changes, and later a second adapter becomes active.
import torch


class LoraLinear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.base = torch.nn.Linear(8, 8)
        self.down = torch.nn.ModuleDict({name: torch.nn.Linear(8, 2) for name in "ab"})
        self.up = torch.nn.ModuleDict({name: torch.nn.Linear(2, 8) for name in "ab"})
        self.scaling, self.active = {"a": 1.0, "b": 1.0}, ["a"]

    def forward(self, x):
        result = self.base(x)
        for name in self.active:  # here: active
            result = result + self.up[name](self.down[name](x)) * self.scaling[name]  # here: scaling
        return result


layer = LoraLinear()
compiled = torch.compile(layer, backend="eager")
with torch.no_grad():
    for scale in (1.0, 0.75, 0.5, 0.25):
        layer.scaling["a"] = scale
        compiled(torch.randn(2, 8))
    layer.active = ["a", "b"]
    compiled(torch.randn(2, 8))
