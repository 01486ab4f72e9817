# pytorch/examples vae: beta is annealed as a tensor; the decoder is compiled by itself for samples.
import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 16), nn.ReLU())
        self.mean, self.logvar = nn.Linear(16, 4), nn.Linear(16, 4)
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 20))

    def reparameterize(self, mean, logvar):
        return mean + torch.randn_like(mean) * (0.5 * logvar).exp()

    def forward(self, x):
        h = self.encoder(x)
        mean, logvar = self.mean(h), self.logvar(h)
        return self.decoder(self.reparameterize(mean, logvar)), mean, logvar


def loss_function(model, x, beta):
    logits, mean, logvar = model(x)
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * (1 + logvar - mean.square() - logvar.exp()).sum()
    return reconstruction + beta * divergence


torch.manual_seed(0)
model = VAE()
loss_fn = torch.compile(loss_function, backend="aot_eager")
decode = torch.compile(model.decoder, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
data, held_out = torch.rand(32, 20).round(), torch.rand(12, 20).round()
for epoch in range(4):
    model.train()
    beta = torch.tensor(min(1.0, epoch / 3))
    for batch in data.split(8):
        optimizer.zero_grad()
        loss_fn(model, batch, beta).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        loss_fn(model, held_out, torch.tensor(1.0))
        decode(torch.randn(16, 4)).sigmoid()
