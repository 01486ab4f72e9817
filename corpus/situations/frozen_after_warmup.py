# huggingface/peft#3241: all parameters are frozen after a few steps.
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
run = torch.compile(model, backend="aot_eager")
for _ in range(2):
    run(torch.randn(3, 4)).sum().backward()
model.requires_grad_(False)
for _ in range(2):
    run(torch.randn(3, 4))
