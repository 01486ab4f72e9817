# pytorch/pytorch#173053 and pytorch/pytorch#114220: two failures, both caught.
import torch


def backend(module, inputs):
    raise RuntimeError("embedding is not lowered")


@torch.compile(backend=backend)
def lookup(table, index):
    return torch.nn.functional.embedding(index, table)


@torch.compile(backend="eager", fullgraph=True)
def threshold(x):
    return x if x.mean() > 0 else -x  # here: branch


for call in (lambda: lookup(torch.ones(4, 2), torch.tensor([1])), lambda: threshold(torch.ones(3))):
    try:
        call()
    except Exception as error:
        print(type(error).__name__)
