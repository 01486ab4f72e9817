# huggingface/diffusers#9279: adapters are added to a dict, and a name says which one is active.
import torch


class Adapted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scaling = {"first": 0.5}
        self.active = "first"

    def forward(self, x):
        y = x * len(self.active)  # here: active
        for scale in self.scaling.values():  # here: scaling
            y = y + scale
        return y


layer = Adapted()
run = torch.compile(layer, backend="eager")
run(torch.ones(4))
layer.scaling["second"] = 0.5
run(torch.ones(4))
layer.active = "second"
run(torch.ones(4))
layer.scaling["third"] = 0.5
run(torch.ones(4))
