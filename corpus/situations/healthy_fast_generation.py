# meta-pytorch/gpt-fast: prefill and decoding are compiled apart; the cache has a fixed size; several prompts.
import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LIMIT, VOCABULARY = 16, 2, 32, 40


class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        shape = (1, HEADS, LIMIT, WIDTH // HEADS)
        self.register_buffer("k", torch.zeros(shape))
        self.register_buffer("v", torch.zeros(shape))

    def update(self, position, k, v):
        self.k[:, :, position] = k
        self.v[:, :, position] = v
        return self.k, self.v


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm = nn.RMSNorm(WIDTH)
        self.cache = Cache()

    def forward(self, x, mask, position):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (t.view(1, -1, HEADS, WIDTH // HEADS).transpose(1, 2) for t in (q, k, v))
        k, v = self.cache.update(position, k, v)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return x + self.out(y.transpose(1, 2).reshape(1, -1, WIDTH))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.register_buffer("causal", torch.tril(torch.ones(LIMIT, LIMIT, dtype=torch.bool)))

    def forward(self, tokens, position):
        mask = self.causal[None, None, position]
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, mask, position)
        return self.head(x)


def sample(logits, temperature=0.8, top_k=10):
    logits = logits[:, -1] / temperature
    smallest = torch.topk(logits, top_k).values[:, -1:]
    probabilities = logits.masked_fill(logits < smallest, float("-inf")).softmax(-1)
    noise = torch.empty_like(probabilities).exponential_(1)
    return (probabilities / noise).argmax(-1, keepdim=True)


def prefill(model, tokens, position):
    return sample(model(tokens, position))


def decode_one_token(model, token, position):
    return sample(model(token, position))


torch.manual_seed(0)
model = Model().eval()
prefill = torch.compile(prefill, backend="eager", fullgraph=True, dynamic=True)
decode_one_token = torch.compile(decode_one_token, backend="eager", fullgraph=True)
with torch.inference_mode():
    for length in (6, 11, 9):
        token = prefill(model, torch.randint(0, VOCABULARY, (1, length)), torch.arange(length))
        position = torch.tensor([length])
        for _ in range(8):
            token = decode_one_token(model, token, position)
            position += 1
