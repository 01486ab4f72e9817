# huggingface/lerobot#2600: a sampler steps a tensor of time down, and its loop ends when the tensor is small.
import torch


@torch.compile(backend="eager")
def sample(x, steps):
    dt = torch.tensor(-1.0 / steps)
    time = torch.tensor(1.0)
    while time >= -dt / 2:  # here: loop
        x = x + dt * torch.tanh(x * time)
        time = time + dt
    return x


sample(torch.ones(2, 4), 3)
sample(torch.zeros(2, 4), 3)
