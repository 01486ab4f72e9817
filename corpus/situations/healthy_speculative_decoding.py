# meta-pytorch/gpt-fast speculative.py, a draft proposes four tokens, the model checks them in one call.
import torch
from torch import nn

LIMIT, VOCABULARY, AHEAD = 24, 20, 4


class Language(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed, self.position = nn.Embedding(VOCABULARY, width), nn.Embedding(LIMIT + AHEAD + 1, width)
        self.qkv, self.head = nn.Linear(width, 3 * width), nn.Linear(width, VOCABULARY)
        self.register_buffer("k", torch.zeros(1, LIMIT + AHEAD + 1, width))
        self.register_buffer("v", torch.zeros(1, LIMIT + AHEAD + 1, width))

    def forward(self, tokens, position):
        q, k, v = self.qkv(self.embed(tokens) + self.position(position)).chunk(3, -1)
        self.k.index_copy_(1, position, k)
        self.v.index_copy_(1, position, v)
        scores = q @ self.k.mT / q.shape[-1] ** 0.5
        mask = torch.arange(self.k.shape[1])[None] <= position[:, None]
        return self.head(scores.masked_fill(~mask, float("-inf")).softmax(-1) @ self.v)


def draft_token(model, token, position):
    return model(token, position)[:, -1].argmax(-1, keepdim=True)


def verify(model, tokens, position):
    return model(tokens, position).argmax(-1)


torch.manual_seed(0)
large, small = Language(16).eval(), Language(8).eval()
draft_token = torch.compile(draft_token, backend="aot_eager", fullgraph=True)
verify = torch.compile(verify, backend="aot_eager", fullgraph=True)
with torch.inference_mode():
    text, place = torch.zeros(1, 1, dtype=torch.long), 0
    while place < LIMIT - AHEAD:
        token, proposed = text[:, -1:].clone(), []
        for ahead in range(AHEAD):
            token = draft_token(small, token, torch.tensor([place + ahead]))
            proposed.append(token)
        tokens = torch.cat([text[:, -1:], *proposed], 1)
        checked = verify(large, tokens, torch.arange(place, place + AHEAD + 1))
        same = (checked[:, :-1] == tokens[:, 1:]).long().cumprod(-1).sum().item()
        text = torch.cat([text, checked[:, : same + 1]], 1)
        place += same + 1
