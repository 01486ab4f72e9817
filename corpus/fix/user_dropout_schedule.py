# gone: all
# The probability of a dropout changes with the epoch, and the accuracy is taken out of the graph as a number.
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self, width=16, classes=4):
        super().__init__()
        self.fc1 = nn.Linear(8, width)
        self.fc2 = nn.Linear(width, classes)
        self.drop_p = 0.0

    def set_epoch(self, epoch, total):
        self.drop_p = 0.4 * epoch / total

    def forward(self, x, y):
        h = F.relu(self.fc1(x))
        keep = 1.0 - self.drop_p
        h = h * keep
        logits = self.fc2(h)
        loss = F.cross_entropy(logits, y)
        acc = (logits.argmax(-1) == y).float().mean().item()
        return loss, acc


def make():
    return Classifier()


def inputs(generator):
    return torch.randn(10, 8, generator=generator), torch.randint(0, 4, (10,), generator=generator)


def train(epochs=5):
    torch.manual_seed(0)
    model = Classifier()
    compiled = torch.compile(model, backend="aot_eager")
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    g = torch.Generator().manual_seed(1)
    batches = [inputs(g) for _ in range(3)]
    for epoch in range(epochs):
        model.set_epoch(epoch, epochs)
        accs = []
        for x, y in batches:
            loss, acc = compiled(x, y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            accs.append(acc)
        print(f"epoch {epoch}: acc {sum(accs) / len(accs):.3f}")


if __name__ == "__main__":
    train()
