# pytorch/pytorch#128319: a number that counts calls is an attribute of the module.
import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(6, 6)
        self.calls_so_far = 0

    def forward(self, x):
        self.calls_so_far += 1  # here: counter
        return self.proj(x) / self.calls_so_far


model = torch.compile(Encoder(), backend="eager")
for _ in range(5):
    model(torch.randn(3, 6))
