# pytorch/pytorch#141184: convolution, LSTM and head are compiled as one model, and the loss is asked for by `item`.
import torch


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv1d(4, 8, 3, padding=1)
        self.recurrent = torch.nn.LSTM(8, 8, batch_first=True, bidirectional=True)
        self.head = torch.nn.Linear(16, 3)

    def forward(self, x):
        hidden = torch.relu(self.convolution(x)).transpose(1, 2)
        hidden, _ = self.recurrent(hidden)  # here: recurrent
        return torch.tanh(self.head(hidden))


tagger = torch.compile(Tagger(), backend="eager")
for length in (6, 6, 9, 12):
    tagger(torch.randn(2, 4, length)).sum().backward()
