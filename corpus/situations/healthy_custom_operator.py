# An operator with a fake implementation and a gradient. pytorch/tutorials#3020.
import torch


@torch.library.custom_op("situations::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


twice.register_autograd(lambda ctx, grad: grad * 2)
model = torch.nn.Linear(3, 3)


@torch.compile(backend="aot_eager")
def run(x):
    return twice(model(x)).sum()


for _ in range(3):
    run(torch.randn(2, 3)).backward()
