# huggingface/transformers#42000-like configs: a lazily computed attribute appears on the first call of forward.
import torch


class Rotary(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.base = 100.0

    def forward(self, x):
        if not hasattr(self, "frequencies"):
            self.frequencies = 1.0 / self.base ** torch.linspace(0, 1, x.shape[-1])
        return x * self.frequencies


rotary = torch.compile(Rotary(), backend="eager")
for _ in range(4):
    rotary(torch.randn(2, 4))
