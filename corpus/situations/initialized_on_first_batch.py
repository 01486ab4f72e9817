# pytorch/pytorch#128319: a flag of the module is False until the first call sets it.
import torch


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ready = False
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x):
        if not self.ready:  # here: ready
            self.scale.copy_(x.std(0) + 1)
            self.ready = True
        return x / self.scale


run = torch.compile(Norm(), backend="eager")
for _ in range(4):
    run(torch.randn(5, 3))
