"""lucidrains/vector-quantize-pytorch: an autoencoder with a codebook that is initialised by k-means."""

# ruff: noqa: E402

import torch

operators = torch.library.Library("torchvision", "DEF")  # its CPU build lacks both
operators.define("nms(Tensor dets, Tensor scores, float t) -> Tensor")
operators.define("qnms(Tensor dets, Tensor scores, float t) -> Tensor")
from torch import nn
from vector_quantize_pytorch import VectorQuantize


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(8, 16)
        self.codes = VectorQuantize(dim=16, codebook_size=16, kmeans_init=True, kmeans_iters=2, decay=0.9)
        self.decode = nn.Linear(16, 8)

    def forward(self, x):
        quantized, _, loss = self.codes(self.encode(x))
        return self.decode(quantized), loss.sum()


torch.manual_seed(0)
model = torch.compile(Autoencoder(), backend="eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(3):
    x = torch.randn(4, 10, 8)
    out, commitment = model(x)
    loss = (out - x).abs().mean() + commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    model(torch.randn(2, 10, 8))
