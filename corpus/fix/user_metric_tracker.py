# gone: break-item growing-container
import torch
import torch.nn.functional as F
from torch import nn

history = {"loss": [], "acc": []}


class Classifier(nn.Module):
    def __init__(self, features=10, classes=3):
        super().__init__()
        self.fc1 = nn.Linear(features, 16)
        self.fc2 = nn.Linear(16, classes)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def evaluate_batch(model, x, y):
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    acc = (logits.argmax(-1) == y).float().mean()
    history["loss"].append(loss.item())
    history["acc"].append(acc.item())
    return loss


def make():
    model = Classifier()
    return lambda x, y: evaluate_batch(model, x, y)


def inputs(generator):
    return torch.randn(16, 10, generator=generator), torch.randint(0, 3, (16,), generator=generator)


def main():
    torch.manual_seed(0)
    model = Classifier()
    evaluate = torch.compile(evaluate_batch, backend="eager")
    g = torch.Generator().manual_seed(0)
    for _ in range(10):
        evaluate(model, *inputs(g))
    print("mean accuracy: %.3f" % (sum(history["acc"]) / len(history["acc"])))


if __name__ == "__main__":
    main()
