# pytorch/pytorch#117758: hooks that are registered before the first call keep activations and scale gradients.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 2))
kept = {}


def keep(name):
    def hook(module, inputs, output):
        kept[name] = output.detach()

    return hook


for place in (1, 3):
    model[place].register_forward_hook(keep(f"tanh{place}"))
for parameter in model[0].parameters():
    parameter.register_hook(lambda gradient: gradient * 0.1)
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    model.train()
    for _ in range(3):
        optimizer.zero_grad()
        compiled(torch.randn(4, 6)).square().mean().backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        compiled(torch.randn(4, 6))
    print({name: value.abs().mean().item() for name, value in kept.items()})
