# vllm-project/vllm#38933: batches are padded to buckets, but a real length is an int argument, and a flag says prefill.
import torch


@torch.compile(backend="eager")
def attend(x, length, is_prefill):
    positions = torch.arange(x.shape[1])
    mask = positions < length
    x = x.masked_fill(~mask[None, :, None], 0.0)
    return x.cumsum(1) if is_prefill else x[:, -1]  # here: flag


for length, is_prefill in ((5, True), (6, False), (7, False), (3, True), (8, False)):
    attend(torch.randn(2, 8, 4), length, is_prefill)
