# tenstorrent/tt-torch#852: a warning is logged in the compiled function.
import logging

import torch

logger = logging.getLogger("decoder")


@torch.compile(backend="eager")
def prepare(tokens):
    mask = tokens != 0
    logger.warning("no padding token, the end token is used")  # here: log
    return tokens * mask


for _ in range(3):
    prepare(torch.randint(0, 9, (2, 7)))
