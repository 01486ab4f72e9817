# Comfy-Org/ComfyUI#11317: a dict of options has the number of the step, and lists with one item or two.
import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(8, 8)

    def forward(self, x, options):
        if options["step"] % 2 == 0:  # here: step
            x = x * 2
        for sign in options["cond"]:
            x = x + sign
        return self.proj(x)


block = torch.compile(Block(), backend="eager")
with torch.no_grad():
    for step in range(7):
        block(torch.randn(2, 8), {"step": step, "cond": [0, 1] if step > 3 else [0]})
