# pytorch/pytorch#99091: fit of the length of a kernel, then the posterior at fewer points than it was fitted at.
import torch


@torch.compile(backend="eager")
def kernel(first, second, length):
    return torch.exp(-(first[:, None] - second[None, :]).square() / length.exp())


torch.manual_seed(0)
points = torch.linspace(0, 1, 16, dtype=torch.float64)
values = torch.sin(6 * points)
length = torch.zeros((), dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.Adam([length], lr=0.1)
noise = 0.01 * torch.eye(16, dtype=torch.float64)
for _ in range(10):
    factor = torch.linalg.cholesky(kernel(points, points, length) + noise)
    loss = values @ torch.cholesky_solve(values[:, None], factor)[:, 0] + 2 * factor.diagonal().log().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    factor = torch.linalg.cholesky(kernel(points, points, length) + noise)
    wanted = torch.linspace(0, 1, 5, dtype=torch.float64)
    posterior = kernel(wanted, points, length) @ torch.cholesky_solve(values[:, None], factor)
