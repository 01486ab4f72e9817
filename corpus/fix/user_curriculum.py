# gone: graph-break break-print tensor-size
# left: counter
import os
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEBUG = os.environ.get("DEBUG", "1") == "1"


class SeqModel(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, 1)
        self.epoch = 0

    def forward(self, x):
        keep = min(x.size(1), 2 + self.epoch)
        out, _ = self.rnn(x[:, :keep])
        if DEBUG:
            print("epoch", self.epoch, "keeps", keep)
        weight = 0.9**self.epoch
        return self.head(out[:, -1]) * weight


def make():
    return SeqModel()


def inputs(generator):
    return (torch.randn(4, 8, 6, generator=generator),)


def main():
    torch.manual_seed(0)
    model = SeqModel()
    compiled = torch.compile(model, backend="eager")
    data = DataLoader(TensorDataset(torch.randn(10, 8, 6)), batch_size=4)
    began = time.time()
    for epoch in range(5):
        model.epoch = epoch
        for (batch,) in data:
            y = compiled(batch)
    assert time.time() >= began
    print(y.shape)


if __name__ == "__main__":
    main()
