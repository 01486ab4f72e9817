# pytorch/pytorch#155238: an encoder packs padded sequences before its LSTM; lengths stay on the host.
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Encoder(torch.nn.Module):
    def __init__(self, vocabulary=20, width=8):
        super().__init__()
        self.embed = torch.nn.Embedding(vocabulary, width)
        self.rnn = torch.nn.LSTM(width, width, batch_first=True)
        self.head = torch.nn.Linear(width, 2)

    def forward(self, tokens, lengths):
        embedded = self.embed(tokens)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)  # here: pack
        states, _ = self.rnn(packed)
        states, _ = pad_packed_sequence(states, batch_first=True)
        return self.head(states.mean(1))


model = Encoder()
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    lengths = torch.randint(2, 7, (4,))
    tokens = torch.randint(20, (4, 7))
    loss = compiled(tokens, lengths).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
