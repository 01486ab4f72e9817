# pytorch/pytorch#139621: max-autotune without graphs of CUDA, a warm-up, timed rounds, and a loader with workers.
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).eval()
compiled = torch.compile(model, mode="max-autotune-no-cudagraphs", dynamic=False)


def timed(function, *args):
    began = time.perf_counter()
    result = function(*args)
    return result, time.perf_counter() - began


loader = DataLoader(TensorDataset(torch.randn(32, 16)), batch_size=8, num_workers=0)
with torch.no_grad():
    for _ in range(3):
        compiled(torch.randn(8, 16))
    seconds = [timed(compiled, batch)[1] for (batch,) in loader]
print(f"{min(seconds):.1e} s")
