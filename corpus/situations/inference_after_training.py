# pytorch/pytorch#148983: training, evaluation under inference_mode, and again training with larger batches.
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
compiled = torch.compile(model, backend="eager")
for size in (8, 16):
    model.train()
    for _ in range(2):
        compiled(torch.randn(size, 4)).sum().backward()
    model.eval()
    with torch.inference_mode():
        compiled(torch.randn(size, 4))
