# karpathy/nanochat#722: a compiled loss takes a flag for the last micro step, and the number of the step.
import torch

model = torch.nn.Linear(4, 4)


@torch.compile(backend="eager")
def loss_of(x, step, is_last):
    loss = model(x).pow(2).mean() * (1 - step / 100)
    return loss / 4 if is_last else loss


for step in range(1, 9):
    loss_of(torch.randn(2, 4), step, step % 4 == 0).backward()
