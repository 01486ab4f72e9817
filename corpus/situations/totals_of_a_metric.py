# Lightning-AI/torchmetrics#2719: a metric adds to Python numbers and tensors inside of the compiled step.
import torch


class Accuracy:
    def __init__(self):
        self.correct = torch.zeros(())
        self.total = 0

    def update(self, logits, target):
        self.correct = self.correct + (logits.argmax(-1) == target).sum()
        self.total = self.total + target.numel()  # here: total

    def compute(self):
        return self.correct / self.total


metric = Accuracy()
model = torch.nn.Linear(4, 3)


@torch.compile(backend="eager")
def validation_step(x, y):
    logits = model(x)
    metric.update(logits, y)
    return logits


model.eval()
with torch.no_grad():
    data = torch.randn(40, 4), torch.randint(3, (40,))
    for x, y in zip(data[0].split(8), data[1].split(8)):
        validation_step(x, y)
print(metric.compute())
