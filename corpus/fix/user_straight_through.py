# gone: break-item break-data-dependent-branch
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return torch.round(x / scale) * scale

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class QuantLinear(nn.Module):
    def __init__(self, dim_in, dim_out, bits=4):
        super().__init__()
        self.linear = nn.Linear(dim_in, dim_out)
        self.bits = bits

    def forward(self, x):
        scale = (self.linear.weight.abs().max() / 2 ** (self.bits - 1)).item()
        if scale == 0:
            warnings.warn("weights are zero", stacklevel=2)
        weight = RoundSTE.apply(self.linear.weight, scale)
        return nn.functional.linear(x, weight, self.linear.bias)


def make():
    return nn.Sequential(QuantLinear(6, 8), nn.ReLU(), QuantLinear(8, 2))


def inputs(generator):
    return (torch.randn(4, 6, generator=generator),)


def main():
    torch.manual_seed(0)
    model = make()
    step = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    g = torch.Generator().manual_seed(0)
    for i in range(5):
        optimizer.zero_grad(set_to_none=True)
        loss = step(*inputs(g)).square().mean()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
