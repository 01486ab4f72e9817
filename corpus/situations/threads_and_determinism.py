# ecmwf/anemoi-core#1330: the number of threads and the choice of algorithms change between calls.
import torch

torch.set_num_threads(1)


@torch.compile(backend="eager")
def mix(x):
    return x.cumsum(0)


mix(torch.ones(4))
torch.set_num_threads(2)
mix(torch.ones(4))  # here: threads
torch.use_deterministic_algorithms(True)
mix(torch.ones(4))  # here: deterministic
