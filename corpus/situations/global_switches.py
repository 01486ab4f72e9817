# pytorch/pytorch#110682: two global switches, changed at different times.
import torch

USE_BIAS = True
ACTIVATION = "relu"


@torch.compile(backend="eager")
def layer(x):
    if USE_BIAS:  # here: bias
        x = x + 1
    return x.relu() if ACTIVATION == "relu" else x.tanh()  # here: activation


layer(torch.randn(3))
USE_BIAS = False
layer(torch.randn(3))
ACTIVATION = "tanh"
layer(torch.randn(3))
