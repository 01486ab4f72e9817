# pytorch/pytorch#120934: with a stance, calls that no entry serves run eager.
import torch


@torch.compile(backend="eager")
def run(x, name):
    return x * len(name)  # here: name


run(torch.ones(2), "a")
torch.compiler.set_stance("eager_on_recompile")
for name in ("bb", "ccc", "bb"):
    run(torch.ones(2), name)
