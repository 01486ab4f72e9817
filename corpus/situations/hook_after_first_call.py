# pytorch/pytorch#117758: a forward hook is registered after the first call, and compiled code ignores it.
import torch

model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
run = torch.compile(model, backend="eager")
run(torch.ones(2, 3))
seen = []
model[0].register_forward_hook(lambda module, given, output: seen.append(output))  # here: hook
for _ in range(2):
    run(torch.ones(2, 3))
