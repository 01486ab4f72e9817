# Comfy-Org/ComfyUI#11317: a bias is None in the first calls; later it is a tensor whose length grows with the input.
import torch


@torch.compile(backend="eager")
def attend(query, bias=None):
    scores = query @ query.transpose(-1, -2)
    if bias is not None:  # here: bias
        scores = scores + bias
    return scores.softmax(-1)


for length, has_bias in ((4, False), (6, False), (8, True), (10, True), (12, False)):
    attend(torch.randn(2, length, 4), torch.zeros(length, length) if has_bias else None)
