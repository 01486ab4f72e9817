# pytorch/pytorch#158642: parts of a model are set to evaluation one by one.
import torch

model = torch.nn.Sequential(
    torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.1)),
    torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)),
)
compiled = torch.compile(model, backend="eager")
for part in (None, model[1], model[0]):
    if part is not None:
        part.eval()
    for _ in range(2):
        compiled(torch.randn(6, 4)).sum().backward()
