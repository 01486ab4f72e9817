import torch

calls = 0


@torch.compile
def warmed(x):
    global calls
    calls += 1
    return x * min(1.0, calls / 10)


torch.manual_seed(14)
total = 0.0
for step in range(14):
    total += float(warmed(torch.randn(5)).sum())
print("result", round(total, 4), calls)
