# pytorch/pytorch#128071: a print in forward, and behind it a list that is longer in each call.
import torch


class Tracker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.history = []

    def forward(self, x):
        y = x.sin()
        print("step", tuple(x.shape))  # here: print
        return y * len(self.history)  # here: length


tracker = Tracker()
run = torch.compile(tracker, backend="eager")
for step in range(5):
    tracker.history.append(step)
    run(torch.randn(3))
