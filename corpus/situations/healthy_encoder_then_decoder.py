# huggingface/transformers Whisper-like: the encoder runs once, the decoder token by token on a static cache.
import torch
import torch.nn.functional as F
from torch import nn

WIDTH, LIMIT = 8, 12


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(10, WIDTH, 3, stride=2, padding=1)
        self.layer = nn.TransformerEncoderLayer(WIDTH, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, features):
        return self.layer(F.gelu(self.conv(features)).transpose(1, 2))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, WIDTH)
        self.qkv, self.query = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.memory = nn.Linear(WIDTH, 2 * WIDTH)
        self.head = nn.Linear(WIDTH, 20)
        self.register_buffer("keys", torch.zeros(1, LIMIT, WIDTH), persistent=False)
        self.register_buffer("values", torch.zeros(1, LIMIT, WIDTH), persistent=False)

    def forward(self, token, position, encoded):
        x = self.embed(token)
        q, k, v = self.qkv(x).chunk(3, -1)
        self.keys.index_copy_(1, position, k)
        self.values.index_copy_(1, position, v)
        mask = (torch.arange(LIMIT) <= position)[None, None]
        keys, values = self.keys[:, None], self.values[:, None]
        x = x + F.scaled_dot_product_attention(q[:, None], keys, values, attn_mask=mask)[:, 0]
        k, v = self.memory(encoded).chunk(2, -1)
        x = x + F.scaled_dot_product_attention(self.query(x)[:, None], k[:, None], v[:, None])[:, 0]
        return self.head(x[:, -1]).argmax(-1, keepdim=True)


torch.manual_seed(0)
encoder, decoder = Encoder().eval(), Decoder().eval()
encode = torch.compile(encoder, backend="aot_eager", fullgraph=True)
decode = torch.compile(decoder, backend="aot_eager", fullgraph=True)
with torch.no_grad():
    for _ in range(3):
        encoded = encode(torch.randn(1, 10, 24))
        token = torch.zeros(1, 1, dtype=torch.long)
        for place in range(LIMIT):
            token = decode(token, torch.tensor([place]), encoded)
