# pytorch/pytorch#160271: some images come from a transposed view.
import torch


@torch.compile(backend="eager")
def blur(image):
    return torch.nn.functional.avg_pool2d(image, 2)


for step in range(6):
    image = torch.rand(2, 3, 8, 8)
    blur(image.transpose(2, 3) if step % 2 else image)
