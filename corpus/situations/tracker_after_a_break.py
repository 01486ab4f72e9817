# pytorch/pytorch#128071: a print, and behind it two attributes that change at different times.
import torch


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.temperature, self.kind = torch.nn.Linear(4, 4), 1, "soft"

    def forward(self, x):
        x = self.layer(x)
        print("activations", tuple(x.shape))  # here: print
        if self.kind == "soft":  # here: kind
            return (x / self.temperature).softmax(-1)
        return x.argmax(-1)


head = Head()
compiled = torch.compile(head, backend="eager")
with torch.no_grad():
    for kind, temperature in (("soft", 1), ("soft", 2), ("hard", 2), ("soft", 3), ("soft", 5)):
        head.kind, head.temperature = kind, temperature
        compiled(torch.randn(2, 4))
