# meta-pytorch/attention-gym#28: sizes are static by choice, and there are ten of them.
import torch


@torch.compile(backend="eager", dynamic=False)
def attend(query):
    return (query @ query.T).softmax(-1)  # here: query


for length in range(4, 15):
    attend(torch.randn(length, 4))
