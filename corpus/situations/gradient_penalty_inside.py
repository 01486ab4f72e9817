# pytorch/pytorch#160757: a penalty takes a gradient inside of the compiled function, and a print reports it.
import torch

critic = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


@torch.compile(backend="eager")
def loss_of(real, fake, weight):
    loss = critic(fake).mean() - critic(real).mean()
    size = real.sub(fake).norm()
    print("distance", size.item())  # here: print
    return loss + weight * size


for weight in (0.1, 0.2, 0.3):
    loss_of(torch.randn(3, 4), torch.randn(3, 4), weight).backward()
