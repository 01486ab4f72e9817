# pytorch/pytorch#158642: a module reads a norm on the host, in training and in evaluation.
import torch


class Normed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.dropout = torch.nn.Dropout(0.2)

    def forward(self, x):
        x = self.linear(x)
        norm = x.norm().item()  # here: item
        return self.dropout(x) / norm


model = Normed()
run = torch.compile(model, backend="eager")
for _ in range(3):
    run(torch.randn(3, 4)).sum().backward()
model.eval()
with torch.no_grad():
    for _ in range(2):
        run(torch.randn(3, 4))
