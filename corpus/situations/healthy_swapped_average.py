# huggingface/diffusers (EMAModel): evaluation with averaged weights that are swapped in and out.
import contextlib

import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 1))
average = [parameter.detach().clone() for parameter in model.parameters()]


@contextlib.contextmanager
def averaged():
    kept = [parameter.detach().clone() for parameter in model.parameters()]
    for parameter, value in zip(model.parameters(), average):
        parameter.data.copy_(value)
    yield
    for parameter, value in zip(model.parameters(), kept):
        parameter.data.copy_(value)


compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for _ in range(3):
    model.train()
    for _ in range(2):
        compiled(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        for mean, parameter in zip(average, model.parameters()):
            mean.lerp_(parameter.detach(), 0.1)
    model.eval()
    with averaged(), torch.no_grad():
        compiled(torch.randn(8, 4))
