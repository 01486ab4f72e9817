# A vector quantizer: a custom autograd function passes gradients straight through; the codebook follows an average.
import torch
import torch.nn.functional as F


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, quantized):
        return quantized.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class Quantizer(torch.nn.Module):
    def __init__(self, codes=6, width=4, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("codebook", torch.randn(codes, width))
        self.register_buffer("counts", torch.ones(codes))

    def forward(self, x):
        nearest = torch.cdist(x, self.codebook).argmin(-1)
        quantized = F.embedding(nearest, self.codebook)
        if self.training:
            with torch.no_grad():
                chosen = F.one_hot(nearest, self.codebook.shape[0]).to(x.dtype)
                self.counts.mul_(self.decay).add_(chosen.sum(0), alpha=1 - self.decay)
                self.codebook.lerp_(chosen.T @ x / self.counts.clamp_min(1)[:, None], 1 - self.decay)
        return StraightThrough.apply(x, quantized), F.mse_loss(x, quantized.detach())


encoder, quantizer = torch.nn.Linear(3, 4), Quantizer()


@torch.compile(backend="aot_eager")
def step(x):
    output, commitment = quantizer(encoder(x))
    return output.pow(2).mean() + 0.25 * commitment


optimizer = torch.optim.Adam(encoder.parameters())
for _ in range(4):
    step(torch.randn(10, 3)).backward()
    optimizer.step()
    optimizer.zero_grad()
quantizer.eval()
with torch.no_grad():
    step(torch.randn(10, 3))
