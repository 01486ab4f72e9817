import torch


@torch.compile
def clipped(gradient, limit):
    norm = gradient.norm()
    if norm > limit:
        gradient = gradient * (limit / norm)
    return gradient, norm


torch.manual_seed(7)
weights = torch.zeros(20)
for step in range(8):
    gradient, norm = clipped(torch.randn(20) * (step % 3), torch.tensor(3.0))
    weights = weights - 0.1 * gradient
print("result", round(float(weights.sum()), 4), round(float(norm), 4))
