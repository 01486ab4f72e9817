# pytorch/pytorch#110682: settings lie in a global dict, and two of them change at different times.
import torch

SETTINGS = {"mode": "train", "blend": True}


@torch.compile(backend="eager")
def layer(x):
    x = x * len(SETTINGS["mode"])  # here: mode
    return x + 1 if SETTINGS["blend"] else x  # here: blend


layer(torch.ones(2))
SETTINGS["mode"] = "deploy"
layer(torch.ones(2))
SETTINGS["mode"] = "serve!!"
layer(torch.ones(2))
SETTINGS["blend"] = False
layer(torch.ones(2))
