# huggingface/transformers#31719: classification of padded texts of any length, compiled with dynamic=True.
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 12, padding_idx=0)
        self.attention = nn.Linear(12, 1)
        self.head = nn.Linear(12, 3)

    def forward(self, tokens):
        x = self.embed(tokens)
        scores = self.attention(x).squeeze(-1).masked_fill(tokens == 0, float("-inf"))
        return self.head((scores.softmax(-1)[:, :, None] * x).sum(1))


torch.manual_seed(0)
random.seed(0)
model = Classifier()
net = torch.compile(model, backend="aot_eager", dynamic=True)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
texts = [torch.randint(1, 40, (random.randint(3, 15),)) for _ in range(30)]
labels = torch.randint(0, 3, (30,))
for epoch in range(2):
    for start in range(0, 30, 7):
        batch = pad_sequence(texts[start : start + 7], batch_first=True)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(batch), labels[start : start + 7]).backward()
        optimizer.step()
