# pytorch/pytorch#186449, huggingface/transformers#46370: a server keeps settings of a request in a ContextVar.
import contextlib
from contextvars import ContextVar

import torch

adapter = ContextVar("adapter", default=1.0)


@contextlib.contextmanager
def using(scale):
    token = adapter.set(scale)
    try:
        yield
    finally:
        adapter.reset(token)


class LoraLinear(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.base = torch.nn.Linear(width, width)
        self.down = torch.nn.Linear(width, 2, bias=False)
        self.up = torch.nn.Linear(2, width, bias=False)

    def forward(self, x):
        update = self.up(self.down(x))
        return self.base(x) + adapter.get() * update  # here: get


model = torch.compile(torch.nn.Sequential(LoraLinear(4), torch.nn.ReLU(), LoraLinear(4)), backend="eager")
with torch.inference_mode():
    for scale in (1.0, 0.5, 0.25):
        with using(scale):
            model(torch.randn(3, 4))
