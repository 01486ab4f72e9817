# NVlabs/FastGen#28: a student is trained, and its averaged copy is compiled, too, and evaluated after each epoch.
import copy

import torch

student = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
averaged = copy.deepcopy(student).requires_grad_(False).eval()
train = torch.compile(student, backend="eager")
evaluate = torch.compile(averaged, backend="eager")
optimizer = torch.optim.AdamW(student.parameters(), lr=0.01)
for _ in range(3):
    for _ in range(2):
        optimizer.zero_grad()
        train(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
        with torch.no_grad():
            for mean, now in zip(averaged.parameters(), student.parameters(), strict=True):
                mean.lerp_(now, 0.1)
    with torch.no_grad():
        evaluate(torch.randn(8, 4))
