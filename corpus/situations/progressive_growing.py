# NVIDIA/flashdreams#257: layers are added between stages, and a flag says whether the new one is faded in.
import torch


class Growing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4)])
        self.fading = False

    def forward(self, x):
        for layer in self.layers:  # here: layers
            x = layer(x).relu()
        return x / 2 if self.fading else x  # here: fading


model = Growing()
run = torch.compile(model, backend="eager")
run(torch.randn(2, 4))
model.layers.append(torch.nn.Linear(4, 4))
run(torch.randn(2, 4))
model.layers.append(torch.nn.Linear(4, 4))
run(torch.randn(2, 4))
model.fading = True
run(torch.randn(2, 4))
