# vllm-project/vllm#38933: the length is padded to a multiple of eight inside of the compiled function.
import torch


@torch.compile(backend="eager")
def encode(x):
    missing = -x.shape[1] % 8
    if missing:  # here: missing
        x = torch.nn.functional.pad(x, (0, missing))
    return x.view(x.shape[0], -1, 8).mean(-1)


for length in (5, 8, 11, 16, 21):
    encode(torch.randn(2, length))
