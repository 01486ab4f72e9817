# A custom operator with a fake kernel and a registered gradient, used by a compiled block under checkpointing.
import torch
from torch.utils.checkpoint import checkpoint


@torch.library.custom_op("causes_lab::gate", mutates_args=())
def gate(x: torch.Tensor, limit: float) -> torch.Tensor:
    return x.clamp(-limit, limit) * x.sigmoid()


@gate.register_fake
def _(x, limit):
    return torch.empty_like(x)


def save(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.limit = inputs[1]


def gradient(ctx, grad):
    (x,) = ctx.saved_tensors
    inside = (x.abs() < ctx.limit).to(x.dtype)
    sigmoid = x.sigmoid()
    return grad * (inside * sigmoid + x.clamp(-ctx.limit, ctx.limit) * sigmoid * (1 - sigmoid)), None


gate.register_autograd(gradient, setup_context=save)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(4, 8), torch.nn.Linear(8, 4)

    def inner(self, x):
        return self.down(gate(self.up(x), 2.0))

    def forward(self, x):
        return x + checkpoint(self.inner, x, use_reentrant=False)


model = torch.nn.ModuleList([Block(), Block()])


@torch.compile(backend="aot_eager")
def run(x):
    for block in model:
        x = block(x)
    return x.pow(2).mean()


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    run(torch.randn(3, 4)).backward()
    optimizer.step()
    optimizer.zero_grad()
