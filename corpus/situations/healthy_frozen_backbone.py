# Fine-tuning: a frozen backbone under no_grad and a trained head, with gradients that are accumulated and clipped.
import torch

backbone = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).requires_grad_(False)
head = torch.nn.Linear(8, 2)
features, predict = torch.compile(backbone, backend="aot_eager"), torch.compile(head, backend="aot_eager")
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(6):
    with torch.no_grad():
        x = features(torch.randn(4, 8))
    (predict(x).square().mean() / 2).backward()
    if step % 2:
        torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
