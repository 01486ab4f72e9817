# NVIDIA/flashdreams#257: an environment variable and the time of day are read in forward.
import os
import time

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        if os.environ.get("SCALE") == "1":  # here: environment
            x = x * 2
        self.seen = time.time()  # here: time
        return self.layer(x)


net = torch.compile(Net(), backend="eager")
for scale in ("0", "1", "0"):
    os.environ["SCALE"] = scale
    net(torch.randn(2, 4)).sum().backward()
