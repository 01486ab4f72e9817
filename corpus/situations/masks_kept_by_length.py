# huggingface/transformers#32864, pytorch/torchtune#1444: a module keeps a mask for each length that it has met.
import torch
import torch.nn.functional as F


class CausalAttention(torch.nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.masks = {}

    def mask(self, length):
        if length not in self.masks:  # here: ask
            self.masks[length] = torch.ones(length, length, dtype=torch.bool).tril()
        return self.masks[length]

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask(x.shape[1]))


model = torch.compile(CausalAttention(), backend="eager")
for length in (4, 4, 6, 6, 8, 8, 4, 10, 10):
    model(torch.randn(2, length, 8)).sum().backward()
