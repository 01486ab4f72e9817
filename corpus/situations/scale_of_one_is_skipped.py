# huggingface/peft#2416: a layer leaves out the product where its scale is one.
import torch


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scaling = 0.5

    def forward(self, x):
        if self.scaling == 1:  # here: branch
            return x + 1
        return x * self.scaling


layer = Layer()
run = torch.compile(layer, backend="eager")
for scaling in (0.5, 1.0, 2.0):
    layer.scaling = scaling
    run(torch.ones(4))
