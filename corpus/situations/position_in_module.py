# rasbt/LLMs-from-scratch#705: a module counts its position; the prompt has six tokens, later calls have one.
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.places = torch.nn.Embedding(16, 8), torch.nn.Embedding(64, 8)
        self.position = 0

    def forward(self, ids):
        length = ids.shape[1]
        places = torch.arange(self.position, self.position + length)  # here: position
        self.position += length
        return self.embedding(ids) + self.places(places)


model = Model()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    ids = torch.randint(0, 16, (1, 6))
    for _ in range(12):
        ids = compiled(ids).argmax(-1)[:, -1:]
