# huggingface/transformers#40328: some calls have a mask, and prompts have several lengths.
import torch


@torch.compile(backend="eager")
def attend(x, mask=None):
    scores = x @ x.T
    if mask is not None:  # here: mask
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1)


for length, has_mask in ((4, True), (6, True), (7, True), (7, False), (5, False), (5, True)):
    attend(torch.randn(length, 3), torch.ones(length, length, dtype=torch.bool) if has_mask else None)
