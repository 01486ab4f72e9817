# CompVis/stable-diffusion#839, huggingface/diffusers#9940: an autoencoder whose adversarial loss starts after some
# steps.
import torch
import torch.nn.functional as F


class Autoencoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = torch.nn.Linear(8, 4)
        self.decode = torch.nn.Linear(2, 8)
        self.judge = torch.nn.Linear(8, 1)

    def forward(self, x, weights, is_adversarial=False):
        mean, spread = self.encode(x).chunk(2, -1)
        code = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        output = self.decode(code)
        divergence = 0.5 * (mean**2 + spread.exp() - 1 - spread).mean()
        loss = F.mse_loss(output, x) + weights["kl"] * divergence  # here: kl
        if is_adversarial:  # here: adversarial
            loss = loss - weights["gan"] * self.judge(output).mean()
        return loss


model = Autoencoder()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
data = torch.randn(30, 8)
step = 0
for epoch in range(3):
    for batch in data.split(8):
        loss = compiled(batch, {"kl": 0.1 * (1 + step), "gan": 0.5}, is_adversarial=step > 5)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        step += 1
