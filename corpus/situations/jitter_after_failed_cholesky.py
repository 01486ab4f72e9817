# cornellius-gp/gpytorch#1586 and pytorch/pytorch#175608: a Gaussian process adds jitter after `LinAlgError`.
import torch


def safe_cholesky(covariance):
    try:
        return torch.linalg.cholesky(covariance)  # here: factor
    except torch.linalg.LinAlgError:
        return torch.linalg.cholesky(covariance + 1e-3 * torch.eye(covariance.shape[0]))


@torch.compile(backend="eager")
def log_likelihood(points, values, length):
    distance = (points[:, None] - points[None, :]).square()
    factor = safe_cholesky(torch.exp(-distance / length))
    solved = torch.cholesky_solve(values[:, None], factor)[:, 0]
    return -0.5 * values @ solved - factor.diagonal().log().sum()


torch.manual_seed(0)
points = torch.linspace(0, 1, 12)
values = torch.sin(6 * points)
for length in (1e-4, 1e-3, 10.0):
    log_likelihood(points, values, torch.tensor(length))
