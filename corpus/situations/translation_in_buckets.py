# pytorch/tutorials translation_transformer: padded sentences of many lengths, marked as dynamic.
import torch
import torch.nn.functional as F
from torch import nn


class Translator(nn.Module):
    def __init__(self, vocabulary=30, width=16):
        super().__init__()
        self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(vocabulary, width)
        self.transformer = nn.Transformer(width, 2, 1, 1, 32, dropout=0.1, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, source, target):
        mask = torch.full((target.shape[1], target.shape[1]), float("-inf")).triu(1)
        hidden = self.transformer(self.source(source), self.target(target), tgt_mask=mask)
        return self.head(hidden)


torch.manual_seed(0)
model = Translator()
net = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)


def batch_of(source_length, target_length):
    source, target = torch.randint(1, 30, (4, source_length)), torch.randint(1, 30, (4, target_length + 1))
    for tensor in (source, target):
        torch._dynamo.maybe_mark_dynamic(tensor, 1)
    return source, target


def loss_of(source, target):
    given = target[:, :-1].contiguous()
    torch._dynamo.maybe_mark_dynamic(given, 1)
    return F.cross_entropy(net(source, given).flatten(0, 1), target[:, 1:].flatten())


for epoch in range(2):
    net.train()
    for lengths in ((5, 6), (9, 8), (7, 11), (12, 10)):
        optimizer.zero_grad()
        loss_of(*batch_of(*lengths)).backward()
        optimizer.step()
    net.train()
    with torch.no_grad():
        for lengths in ((6, 6), (10, 9)):
            loss_of(*batch_of(*lengths))
