# pytorch/pytorch#194768: a weight is initialised in the compiled function; torch's own code branches on values.
import torch


@torch.compile(backend="eager")
def fresh(x):
    weight = torch.empty(4, 4)
    torch.nn.init.orthogonal_(weight)  # here: init
    return x @ weight


for _ in range(2):
    fresh(torch.randn(2, 4))
