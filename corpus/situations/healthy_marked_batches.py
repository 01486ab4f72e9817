# Batches whose first dimension is marked as dynamic. pytorch/pytorch#122307.
import torch

model = torch.nn.Linear(4, 2)
run = torch.compile(model, backend="aot_eager")
for size in (6, 9, 4, 7):
    x = torch.randn(size, 4)
    torch._dynamo.mark_dynamic(x, 0)
    run(x).sum().backward()
