# The model and the loss are compiled apart, and buckets of two lengths alternate. openai/parameter-golf#1907.
import torch

model = torch.nn.Linear(6, 3)
run = torch.compile(model, backend="aot_eager")


@torch.compile(backend="aot_eager")
def loss(logits, targets, smoothing=0.1):
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=smoothing)


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for length in (4, 8, 4, 8, 4):
    optimizer.zero_grad()
    loss(run(torch.randn(2, length, 6)), torch.randint(0, 3, (2, length))).backward()
    optimizer.step()
