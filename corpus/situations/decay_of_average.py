# huggingface/diffusers (EMAModel), pytorch/pytorch#149405: the decay of an average is another float in each step.
import torch


@torch.compile(backend="eager")
def follow(average, value, decay):
    return average * decay + value * (1 - decay)


average = torch.zeros(4)
for step in range(1, 9):
    average = follow(average, torch.randn(4), min(0.99, (1 + step) / (10 + step)))
