# Comfy-Org/ComfyUI#10620: weights and inputs are cast to bfloat16 after the first batches.
import torch

model = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2))
run = torch.compile(model, backend="eager")
with torch.no_grad():
    for _ in range(2):
        run(torch.randn(4, 6))
    model.to(torch.bfloat16)
    for _ in range(2):
        run(torch.randn(4, 6, dtype=torch.bfloat16))
