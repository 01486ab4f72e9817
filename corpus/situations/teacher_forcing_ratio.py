# espnet, fairseq-like sequence models; pytorch/pytorch#121369: teacher forcing is drawn for each step in the loop.
import random

import torch


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = torch.nn.GRUCell(4, 4), torch.nn.Linear(4, 4)

    def forward(self, inputs, hidden, forced):
        outputs, token = [], inputs[:, 0]
        for step in range(inputs.shape[1]):
            hidden = self.cell(token, hidden)
            outputs.append(self.head(hidden))
            token = inputs[:, step] if forced[step] else outputs[-1]  # here: forced
        return torch.stack(outputs, 1)


random.seed(1)
decoder = torch.compile(Decoder(), backend="eager")
for _ in range(8):
    forced = [random.random() < 0.5 for _ in range(3)]
    decoder(torch.randn(2, 3, 4), torch.zeros(2, 4), forced).sum().backward()
