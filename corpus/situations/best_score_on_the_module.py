# Lightning-AI/pytorch-lightning#20742, ultralytics/ultralytics#20123: the trainer keeps progress as floats on the
# model.
import torch


class Detector(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = torch.nn.Linear(6, 12)
        self.head = torch.nn.Linear(12, 4)
        self.progress = 0.0
        self.best = float("inf")

    def forward(self, x):
        x = self.backbone(x).relu()
        noise = torch.randn_like(x) * (1.0 - self.progress)  # here: progress
        return self.head(x + noise)


model = Detector()
compiled = torch.compile(model, backend="aot_eager", dynamic=False)
optimizer = torch.optim.AdamW(model.parameters())
for epoch in range(5):
    model.train()
    model.progress = epoch / 5
    for _ in range(2):
        compiled(torch.randn(4, 6)).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        model.best = min(model.best, compiled(torch.randn(4, 6)).abs().mean().item())
