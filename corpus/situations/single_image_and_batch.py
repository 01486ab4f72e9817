# pytorch/pytorch#183771: an image with a batch dimension and one without, and pixels as bytes.
import torch


@torch.compile(backend="eager")
def brighten(image):
    return (image * 2).clamp(max=255)  # here: image


brighten(torch.rand(2, 3, 4, 4))
brighten(torch.rand(3, 4, 4))
brighten(torch.zeros(2, 3, 4, 4, dtype=torch.uint8))
