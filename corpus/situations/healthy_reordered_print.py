# Prints are moved behind the graph, by a setting.
import torch

torch._dynamo.config.reorderable_logging_functions.add(print)


@torch.compile(backend="eager")
def run(x):
    y = x.sin()
    print("done")
    return y + 1


for _ in range(3):
    run(torch.ones(2))
