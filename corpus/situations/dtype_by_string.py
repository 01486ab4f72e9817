# unslothai/unsloth-zoo#1001: a norm casts to the dtype whose name it gets, and its input comes in two dtypes.
import torch


@torch.compile(backend="eager")
def rms_norm(x, weight, target):
    y = x.float()
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
    return (y * weight).to(getattr(torch, target))  # here: target


weight = torch.ones(8)
for dtype in (torch.float32, torch.bfloat16, torch.float32, torch.float16):
    rms_norm(torch.randn(2, 8, dtype=dtype), weight, str(dtype).removeprefix("torch."))
