# PrimeIntellect-ai/prime-rl#996 and tenstorrent/tt-torch#852: a host read and a warning in one function.
import logging

import torch

logger = logging.getLogger("router")


@torch.compile(backend="eager")
def route(scores, load):
    busiest = load.max().item()  # here: item
    scores = scores / busiest
    logger.warning("experts are unbalanced")  # here: log
    return scores.softmax(-1)


for _ in range(3):
    route(torch.randn(4, 3), torch.tensor([1.0, 2.0, 4.0]))
