import os

import torch

layer = torch.nn.Linear(6, 6)


@torch.compile
def forward(x):
    step = int(os.environ["TRAINING_STEP"])
    return layer(x).square() / (1 + step)


torch.manual_seed(17)
layer.reset_parameters()
total = 0.0
for step in range(10):
    os.environ["TRAINING_STEP"] = str(step)
    total += float(forward(torch.randn(4, 6)).sum())
print("result", round(total, 4))
