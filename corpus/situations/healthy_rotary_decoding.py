# Rotary embeddings as complex numbers, a prompt, then one token at a time into a static cache.
import torch
import torch.nn.functional as F


def rotary(width, end, theta=10000.0):
    angles = torch.outer(torch.arange(end), theta ** (-torch.arange(0, width, 2) / width))
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x, freqs):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * freqs).flatten(-2)


class Block(torch.nn.Module):
    def __init__(self, width=8, longest=16):
        super().__init__()
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.register_buffer("freqs", rotary(width, longest), persistent=False)
        self.register_buffer("keys", torch.zeros(1, longest, width), persistent=False)
        self.register_buffer("values", torch.zeros(1, longest, width), persistent=False)

    def forward(self, x, positions, mask):
        q, k, v = self.qkv(x).chunk(3, -1)
        freqs = self.freqs[positions]
        q, k = rotate(q, freqs), rotate(k, freqs)
        self.keys.index_copy_(1, positions, k)
        self.values.index_copy_(1, positions, v)
        return F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)


model = Block().eval()
compiled = torch.compile(model, backend="aot_eager")
visible = torch.ones(16, 16, dtype=torch.bool).tril()
with torch.inference_mode():
    positions = torch.arange(5)
    compiled(torch.randn(1, 5, 8), positions, visible[positions])
    for step in range(5, 12):
        positions = torch.tensor([step])
        compiled(torch.randn(1, 1, 8), positions, visible[positions])
