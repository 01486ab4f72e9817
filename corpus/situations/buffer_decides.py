# pytorch/pytorch#119186: a buffer says whether a module is initialised, and a branch depends on it.
import torch


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ready", torch.tensor(False))

    def forward(self, x, mode):
        x = x * len(mode)  # here: mode
        if self.ready:  # here: branch
            return x / 2
        self.ready.fill_(True)
        return x


run = torch.compile(Norm(), backend="eager")
for mode in ("a", "a", "bb", "ccc"):
    run(torch.randn(3), mode)
