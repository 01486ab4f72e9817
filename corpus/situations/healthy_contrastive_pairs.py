# Contrastive training of two towers of one class with a learned temperature; evaluation encodes one side alone.
import torch
import torch.nn.functional as F


class Tower(torch.nn.Module):
    def __init__(self, inputs, width=8):
        super().__init__()
        self.inputs = inputs
        up, down = torch.nn.Linear(inputs, width), torch.nn.Linear(width, width)
        self.layers = torch.nn.Sequential(up, torch.nn.GELU(), down)

    def forward(self, x):
        return F.normalize(self.layers(x), dim=-1)


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = Tower(12), Tower(6)
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, image, text):
        logits = self.scale.exp() * self.image(image) @ self.text(text).T
        target = torch.arange(len(logits))
        return (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2


model = Pair()
loss_of = torch.compile(model, backend="aot_eager")
encode = torch.compile(model.image, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(5):
    loss_of(torch.randn(8, 12), torch.randn(8, 6)).backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
with torch.no_grad():
    for count in (8, 5, 3):
        encode(torch.randn(count, 12))
