# vllm-project/vllm#38933: a server gets batches of several sizes, and some of one request.
import torch


@torch.compile(backend="eager")
def rank(logits):
    return (logits > logits.mean(-1, keepdim=True)).sum(-1)


for batch in (4, 7, 1, 9, 1, 5):
    rank(torch.randn(batch, 16))
