# pytorch/pytorch#154867: two layers of one class count their calls.
import torch


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 2

    def forward(self, x):
        self.count += 1  # here: count
        return x * self.count


run = torch.compile(torch.nn.Sequential(Layer(), Layer()), backend="eager")
for _ in range(5):
    run(torch.ones(3))
