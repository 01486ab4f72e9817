# gone: break-data-dependent-branch break-logging break-time
import logging
import time

import torch

logging.basicConfig(level=logging.ERROR)
log = logging.getLogger("train")


def clip_gradients(grads, max_norm):
    total = torch.sqrt(sum(g.pow(2).sum() for g in grads))
    if total > max_norm:
        coef = max_norm / (total + 1e-6)
        grads = [g * coef for g in grads]
    log.info("grad norm %.3f", total)
    return grads, total


def update(params, grads, lr=0.1):
    start = time.perf_counter()
    grads, total = clip_gradients(grads, 1.0)
    params = [p - lr * g for p, g in zip(params, grads)]
    log.debug("update took %.3f s", time.perf_counter() - start)
    return params, total


def make():
    return update


def inputs(generator):
    params = [torch.randn(3, 3, generator=generator), torch.randn(3, generator=generator)]
    grads = [torch.randn(3, 3, generator=generator) * 0.3, torch.randn(3, generator=generator)]
    return params, grads


if __name__ == "__main__":
    compiled_update = torch.compile(update, backend="eager")
    g = torch.Generator().manual_seed(0)
    for i in range(8):
        params, norm = compiled_update(*inputs(g))
    print("norm", round(norm.item(), 3))
