# NVIDIA/TensorRT-LLM#6142: the limit is set to three entries, and names are five.
import torch

torch._dynamo.config.recompile_limit = 3


@torch.compile(backend="eager")
def run(x, name):
    return x * len(name)  # here: name


for name in ("a", "bb", "ccc", "dddd", "eeeee"):
    run(torch.ones(2), name)
