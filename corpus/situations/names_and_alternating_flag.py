# vllm-project/vllm#25110: each layer passes its own name, and a flag alternates.
import torch


@torch.compile(backend="eager")
def attention(x, name, causal):
    x = x * len(name)  # here: name
    return x.tril() if causal else x  # here: causal


for number in range(12):
    attention(torch.ones(3, 3), "layer." * (number + 1), number % 2 == 0)
