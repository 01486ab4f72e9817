# huggingface/accelerate#3543: layers of a cache say whether they are filled, first for one request, then for two.
import functools

import torch


def with_defaults(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        return function(*args, **{"scale": 0.5, **kwargs})

    return wrapped


class CacheLayer:
    def __init__(self):
        self.is_filled, self.keys = False, None

    def update(self, keys):
        self.keys = keys if not self.is_filled else torch.cat((self.keys, keys), 1)
        self.is_filled = True
        return self.keys


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(16, 8)
        self.head = torch.nn.Linear(8, 16)

    @with_defaults
    def forward(self, ids, cache, scale):
        x = self.embedding(ids)
        for layer in cache:
            x = x + scale * layer.update(x).mean(1, keepdim=True)
        return self.head(x)


model = Model().eval()
model.forward = torch.compile(model.forward, backend="eager", dynamic=True)
with torch.no_grad():
    for batch in (1, 2):
        ids, cache = torch.randint(0, 16, (batch, 5)), [CacheLayer(), CacheLayer()]
        for _ in range(4):
            ids = model.forward(ids=ids, cache=cache)[:, -1:].argmax(-1)
