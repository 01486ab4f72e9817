# Batches are slices of one shuffled tensor; the last one is smaller; the model is evaluated on all data after each
# epoch.
import torch
import torch.nn.functional as F

features, labels = torch.randn(50, 6), torch.randint(3, (50,))
model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Dropout(0.2), torch.nn.ReLU(), torch.nn.Linear(16, 3))
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters())


def train(order, size=16):
    model.train()
    x, y = features[order], labels[order]
    for start in range(0, len(order), size):
        loss = F.cross_entropy(compiled(x[start : start + size]), y[start : start + size])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


@torch.no_grad()
def evaluate():
    model.eval()
    return (compiled(features).argmax(-1) == labels).float().mean().item()


for _ in range(3):
    train(torch.randperm(len(features)))
    evaluate()
