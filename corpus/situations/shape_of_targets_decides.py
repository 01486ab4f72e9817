# ecmwf/anemoi-core#1330: a branch compares two sizes, and later the number of dimensions changes.
import torch


@torch.compile(backend="eager")
def error(prediction, target):
    if prediction.dim() == 3:  # here: rank
        prediction = prediction.mean(1)
    if prediction.shape[0] > 5:  # here: size
        return (prediction - target).abs().mean()
    return (prediction - target).pow(2).mean()


for shape in ((4, 6), (8, 6), (3, 6), (4, 2, 6), (9, 6)):
    error(torch.randn(shape), torch.randn(shape[0], 6))
