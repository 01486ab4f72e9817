# pytorch/pytorch#177895: a factory compiles a method of each new object.
import torch


class Frontend:
    def __init__(self, name):
        self.name = name

    def run(self, x):
        return x * len(self.name)  # here: name


for number in range(11):
    torch.compile(Frontend("f" * (number + 1)).run, backend="eager")(torch.ones(3))
