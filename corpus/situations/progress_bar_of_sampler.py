# pytorch/pytorch#158642: the whole sampler is compiled, with its progress bar and a callback that asks for a number.
import torch
from tqdm import tqdm

model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.SiLU(), torch.nn.Linear(16, 8))
seen = []


def keep(latent):
    seen.append(latent.norm().item())  # here: callback


@torch.compile(backend="eager")
def sample(latent, sigmas):
    bar = tqdm(total=len(sigmas) - 1, disable=True)  # here: bar
    for index in range(len(sigmas) - 1):
        slope = (latent - model(latent)) / sigmas[index]
        latent = latent + slope * (sigmas[index + 1] - sigmas[index])
        bar.update(1)  # here: update
        keep(latent)
    bar.close()
    return latent


with torch.no_grad():
    for _ in range(3):
        sample(torch.randn(2, 8), torch.linspace(4, 0.1, 4))
