# vllm-project/vllm#14580: a server marks the batch dimension, is warmed up once, and serves all sizes from two on.
import torch


@torch.compile(backend="eager")
def score(x, weight):
    return (x @ weight).softmax(-1)


weight = torch.randn(6, 3)
for size in (4, 2, 9, 33, 5):
    batch = torch.randn(size, 6)
    torch._dynamo.mark_dynamic(batch, 0)
    score(batch, weight)
