# huggingface/transformers#29114: labels in training; evaluation without labels, without gradients, in larger batches.
import torch


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 3))

    def forward(self, x, labels=None):
        logits = self.body(x)
        return logits if labels is None else torch.nn.functional.cross_entropy(logits, labels)


model = Classifier()
run = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    run(torch.randn(8, 6), torch.randint(0, 3, (8,))).backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    run(torch.randn(16, 6))
