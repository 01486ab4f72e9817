# gone: all
# The compiled step does the backward, clips the gradients if their norm is large, and times itself.
import logging
import time

import torch
from torch import nn

log = logging.getLogger(__name__)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))


def compute_grads(x, y, max_norm=1.0):
    t0 = time.time()
    loss = (model(x) - y).square().mean()
    params = list(model.parameters())
    grads = torch.autograd.grad(loss, params)
    norm = torch.stack([g.norm() for g in grads]).norm()
    if norm > max_norm:
        log.warning("clipping gradients: norm %.3f", norm.item())
        grads = [g * (max_norm / norm) for g in grads]
    log.debug("step took %.4f s", time.time() - t0)
    return loss.detach(), list(grads)


def make():
    return compute_grads


def inputs(generator):
    return torch.randn(8, 4, generator=generator), 3 * torch.randn(8, 1, generator=generator)


def main():
    torch.manual_seed(0)
    logging.basicConfig(level=logging.ERROR)
    fast = torch.compile(compute_grads, backend="aot_eager")
    g = torch.Generator().manual_seed(1)
    for _ in range(8):
        loss, grads = fast(*inputs(g))
        with torch.no_grad():
            for p, grad in zip(model.parameters(), grads):
                p -= 0.01 * grad
    print(f"loss {loss:.4f}")


if __name__ == "__main__":
    main()
