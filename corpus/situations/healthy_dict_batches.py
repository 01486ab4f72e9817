# Batches are dicts; evaluation has no labels, no gradients and other sizes; the last batch is smaller.
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(5, 2)

    def forward(self, batch):
        logits = self.net(batch["x"])
        if "labels" in batch:
            return torch.nn.functional.cross_entropy(logits, batch["labels"])
        return logits


model = Model()
run = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for size in (8, 8, 8, 3):
    optimizer.zero_grad()
    run({"x": torch.randn(size, 5), "labels": torch.randint(0, 2, (size,))}).backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    for size in (16, 16, 2):
        run({"x": torch.randn(size, 5)})
