# pytorch/pytorch#194768-like lazy modules: a LazyLinear gets its weights in the first compiled call.
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 2))
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


@torch.compile(backend="eager")
def apply():
    optimizer.step()


for _ in range(4):
    compiled(torch.randn(3, 4)).sum().backward()
    apply()
    optimizer.zero_grad()
