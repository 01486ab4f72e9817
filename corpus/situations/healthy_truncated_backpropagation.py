# pytorch/examples word_language_model: a GRU by cells, whose state is detached between the windows.
import torch
import torch.nn.functional as F
from torch import nn


class Recurrent(nn.Module):
    def __init__(self, vocabulary=20, width=12):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.cell1, self.cell2 = nn.GRUCell(width, width), nn.GRUCell(width, width)
        self.drop = nn.Dropout(0.1)
        self.decode = nn.Linear(width, vocabulary)

    def initial(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(batch, 12), weight.new_zeros(batch, 12)

    def forward(self, tokens, state):
        first, second = state
        outputs = []
        for x in self.drop(self.embed(tokens)).unbind(0):
            first = self.cell1(x, first)
            second = self.cell2(self.drop(first), second)
            outputs.append(second)
        return self.decode(self.drop(torch.stack(outputs))), (first, second)


def batchify(data, batch):
    rows = data.size(0) // batch
    return data[: rows * batch].view(batch, -1).t().contiguous()


def repackage(state):
    return tuple(part.detach() for part in state)


torch.manual_seed(0)
model = Recurrent()
net = torch.compile(model, backend="aot_eager")
train, val = batchify(torch.randint(0, 20, (164,)), 4), batchify(torch.randint(0, 20, (84,)), 2)
rate = 1.0
for epoch in range(2):
    model.train()
    state = model.initial(4)
    for start in range(0, 40, 8):
        state = repackage(state)
        model.zero_grad()
        output, state = net(train[start : start + 8], state)
        F.cross_entropy(output.flatten(0, 1), train[start + 1 : start + 9].flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(parameter.grad, alpha=-rate)
    model.eval()
    state, total = model.initial(2), 0.0
    with torch.no_grad():
        for start in range(0, 40, 8):
            output, state = net(val[start : start + 8], state)
            total += F.cross_entropy(output.flatten(0, 1), val[start + 1 : start + 9].flatten()).item()
    rate /= 2
