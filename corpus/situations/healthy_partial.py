# A mask is bound with functools.partial, once for each length. meta-pytorch/attention-gym#35.
from functools import partial

import torch


def attend(x, mask):
    return (x @ x.T).masked_fill(~mask, float("-inf")).softmax(-1) @ x


for length in (6, 8, 10):
    run = torch.compile(partial(attend, mask=torch.ones(length, length, dtype=torch.bool).tril()), backend="eager")
    for _ in range(2):
        run(torch.randn(length, 4))
