# pytorch/pytorch#141486: hidden states are a list of tuples that begins as None and is passed back.
import torch


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = torch.nn.ModuleList(torch.nn.LSTMCell(4, 4) for _ in range(2))

    def forward(self, x, states):
        result = []
        for cell, state in zip(self.cells, states):
            x, memory = cell(x, state)
            result.append((x, memory))
        return x, result


stack = torch.compile(Stack(), backend="eager")
for _ in range(2):
    states = [None, None]
    for _ in range(4):
        x, states = stack(torch.randn(3, 4), states)
        states = [tuple(part.detach() for part in state) for state in states]
