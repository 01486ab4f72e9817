# pytorch/pytorch#160271: inputs are slices of a larger tensor, some of them transposed, and the last batch is smaller.
import torch


@torch.compile(backend="eager")
def project(x, weight):
    return (x @ weight).relu()


data, weight = torch.randn(20, 6), torch.randn(6, 3)
for x in (data[:8], data[8:16], torch.randn(6, 8).T, data[:, :6][:8], data[16:]):
    project(x, weight)
