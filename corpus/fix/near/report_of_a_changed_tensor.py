# left: break-item
import torch


def f(x):
    y = x * 2
    print(f"sum {y.sum().item():.3f}")
    y.add_(1)
    return y


if __name__ == "__main__":
    step = torch.compile(f, backend="eager")
    for seed in range(4):
        print(step(torch.randn(4, generator=torch.Generator().manual_seed(seed))).shape)
