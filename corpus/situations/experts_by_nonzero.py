# huggingface/transformers#40421: the experts that have tokens are found with nonzero, and a loop runs over them.
import torch

weights = torch.randn(4, 8, 8)


@torch.compile(backend="eager")
def experts(x, mask):
    hit = mask.sum(0).nonzero()  # here: nonzero
    for expert in hit:
        x = x @ weights[expert[0]]
    return x


for count in (2, 2, 3, 4):
    mask = torch.zeros(5, 4)
    mask[:, :count] = 1
    experts(torch.randn(5, 8), mask)
