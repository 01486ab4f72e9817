# Training a small diffusion model with time steps as tensors.
import torch


class Denoiser(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.time = torch.nn.Embedding(10, 8)
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.SiLU(), torch.nn.Linear(16, 8))

    def forward(self, x, t):
        return self.net(x + self.time(t))


model = Denoiser()
run = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(4):
    x, noise, t = torch.randn(6, 8), torch.randn(6, 8), torch.randint(0, 10, (6,))
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(run(x + noise * t.view(-1, 1) / 10, t), noise).backward()
    optimizer.step()
with torch.no_grad():
    x = torch.randn(6, 8)
    for t in reversed(range(10)):
        x = x - 0.1 * run(x, torch.full((6,), t))
