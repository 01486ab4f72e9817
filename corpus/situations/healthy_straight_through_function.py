# pytorch/pytorch#105210: an autograd.Function and an operator of the program in training and evaluation.
import torch
from torch import nn


class Binarize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bound):
        ctx.save_for_backward(x)
        ctx.bound = bound
        return x.sign()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= ctx.bound), None


@torch.library.custom_op("healthy::soft_clip", mutates_args=())
def soft_clip(x: torch.Tensor, limit: float) -> torch.Tensor:
    return limit * torch.tanh(x / limit)


@soft_clip.register_fake
def _(x, limit):
    return torch.empty_like(x)


def setup_context(ctx, inputs, output):
    ctx.limit = inputs[1]
    ctx.save_for_backward(output)


def backward(ctx, gradient):
    (output,) = ctx.saved_tensors
    return gradient * (1 - (output / ctx.limit).square()), None


soft_clip.register_autograd(backward, setup_context=setup_context)


class BinaryNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(10, 16), nn.Linear(16, 3)
        self.norm = nn.BatchNorm1d(16)

    def forward(self, x):
        hidden = Binarize.apply(self.norm(self.first(x)), 1.0)
        return soft_clip(self.last(hidden), 5.0)


torch.manual_seed(0)
model = BinaryNet()
net = torch.compile(model, backend="aot_eager", fullgraph=True)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for epoch in range(2):
    model.train()
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(torch.randn(8, 10)), torch.randint(0, 3, (8,))).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        net(torch.randn(8, 10))
