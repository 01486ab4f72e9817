# Training with low-rank adapters of several layers, each with its own scaling; then merged for inference.
import torch


class LoraLinear(torch.nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = torch.nn.Linear(base.in_features, rank, bias=False)
        self.up = torch.nn.Linear(rank, base.out_features, bias=False)
        self.scaling = alpha / rank
        self.merged = False

    def forward(self, x):
        if self.merged:
            return self.base(x)
        return self.base(x) + self.scaling * self.up(self.down(x))

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.scaling * self.up.weight @ self.down.weight
        self.merged = True


layers = [LoraLinear(torch.nn.Linear(6, 6), rank, alpha) for rank, alpha in ((2, 4.0), (2, 4.0))]
model = torch.nn.Sequential(*layers)
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
for _ in range(4):
    compiled(torch.randn(5, 6)).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
for layer in layers:
    layer.merge()
with torch.inference_mode():
    for _ in range(3):
        compiled(torch.randn(5, 6))
