# huggingface/pytorch-image-models: augmentation in the compiled function draws a crop with numpy, and prints once.
import numpy
import torch

printed = False


@torch.compile(backend="eager")
def augment(images):
    global printed
    top = numpy.random.randint(0, 4)  # here: draw
    if not printed:
        print("augmenting", images.shape)  # here: print
        printed = True
    return images[:, :, top : top + 8, :]


for _ in range(4):
    augment(torch.randn(2, 3, 12, 12))
