# pytorch/rl#2501: a temperature is annealed to zero; at zero the choice is hard, and the epoch decides a bonus.
import torch


@torch.compile(backend="eager")
def choose(logits, temperature, epoch):
    if temperature > 0:  # here: temperature
        weights = (logits / temperature).softmax(-1)
    else:
        weights = torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).float()
    return weights + (0.1 if epoch % 2 else 0.0)  # here: epoch


for epoch in range(6):
    choose(torch.randn(3, 5), max(0.0, 1.0 - epoch / 4), epoch)
