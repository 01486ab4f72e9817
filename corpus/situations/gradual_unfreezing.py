# huggingface/peft#3241: layers are unfrozen one after the other, four stages of training.
import torch

model = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(4)))
compiled = torch.compile(model, backend="eager")
for stage in range(4):
    for number, layer in enumerate(model):
        layer.requires_grad_(number >= 3 - stage)
    for _ in range(2):
        compiled(torch.randn(2, 4)).sum().backward()
