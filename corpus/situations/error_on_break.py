# pytorch/pytorch#162027: breaks are errors in one region, without fullgraph.
import torch


@torch.compile(backend="eager")
def run(x):
    with torch._dynamo.error_on_graph_break(True):
        x = x + 1
        print("inside")  # here: print
        return x * 2


run(torch.ones(2))
