"""meta-pytorch/gpt-fast (generate.py): prefill and one-token decoding with a static cache, compiled apart."""

import torch
from torch import nn
from torch.nn import functional as F


class Cache(nn.Module):
    def __init__(self, batch, heads, length, width):
        super().__init__()
        self.register_buffer("keys", torch.zeros(batch, heads, length, width))
        self.register_buffer("values", torch.zeros(batch, heads, length, width))

    def update(self, places, keys, values):
        self.keys[:, :, places] = keys
        self.values[:, :, places] = values
        return self.keys, self.values


class Layer(nn.Module):
    def __init__(self, width=32, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.cache = None

    def forward(self, x, places, mask):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        if self.cache is not None:
            k, v = self.cache.update(places, k, v)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return y.transpose(1, 2).reshape(b, t, c)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(64, 32)
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.head = nn.Linear(32, 64)
        self.longest = -1

    def setup(self, batch, length):
        self.longest = length
        for layer in self.layers:
            layer.cache = Cache(batch, 2, length, 16)
        self.mask = torch.tril(torch.ones(length, length, dtype=torch.bool))

    def forward(self, tokens, places):
        mask = self.mask[None, None, places]
        x = self.tokens(tokens)
        for layer in self.layers:
            x = x + layer(x, places, mask)
        return self.head(x)


def sample(logits, temperature, top_k=None):
    logits = logits[0, -1] / max(temperature, 1e-5)
    if top_k is not None:
        values, _ = torch.topk(logits, min(top_k, logits.size(-1)))
        logits = torch.where(logits < values[-1], -float("inf"), logits)
    probabilities = logits.softmax(-1)
    return torch.argmax(probabilities / torch.empty_like(probabilities).exponential_(1), keepdim=True).int()


def prefill(model, tokens, places, **sampling):
    return sample(model(tokens, places), **sampling)


def decode_one(model, token, place, **sampling):
    return sample(model(token, place), **sampling)


torch.manual_seed(0)
model = Transformer().eval()
prefill = torch.compile(prefill, backend="eager", fullgraph=True, dynamic=True)
decode_one = torch.compile(decode_one, backend="eager", fullgraph=True)


@torch.inference_mode()
def generate(prompt, count, temperature, top_k):
    length = prompt.numel()
    model.setup(1, length + count)
    token = prefill(model, prompt[None], torch.arange(length), temperature=temperature, top_k=top_k)
    for step in range(count - 1):
        place = torch.tensor([length + step])
        token = decode_one(model, token[None], place, temperature=temperature, top_k=top_k)


generate(torch.randint(0, 64, (6,)), 4, 0.8, 20)
generate(torch.randint(0, 64, (9,)), 4, 0.8, 20)
generate(torch.randint(0, 64, (9,)), 8, 0.2, 20)
generate(torch.randint(0, 64, (12,)), 8, 0.2, None)
