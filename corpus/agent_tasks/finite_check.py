import warnings

import torch

scale = torch.nn.Parameter(torch.ones(6))


@torch.compile
def loss_of(x):
    y = (x * scale).exp()
    if not torch.isfinite(y).all():
        warnings.warn("the loss is not finite", stacklevel=2)
    return y.mean()


torch.manual_seed(8)
total = 0.0
for step in range(6):
    total += float(loss_of(torch.randn(5, 6)))
print("result", round(total, 4))
