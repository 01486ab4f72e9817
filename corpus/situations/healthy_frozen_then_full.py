# huggingface/peft#3241-like two-stage fine-tuning: first the head alone, then all parameters.
import torch

body, head = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)
model = torch.nn.Sequential(body, torch.nn.GELU(), head)
compiled = torch.compile(model, backend="eager")
for stage in range(2):
    body.requires_grad_(stage == 1)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.01)
    for _ in range(3):
        compiled(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
