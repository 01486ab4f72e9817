# rasbt/LLMs-from-scratch#705: keys of earlier tokens are concatenated outside of the compiled model.
import torch


@torch.compile(backend="eager")
def attend(query, keys):
    return (query @ keys.transpose(1, 2)).softmax(-1) @ keys  # here: keys


keys = torch.randn(1, 5, 8)
with torch.no_grad():
    for _ in range(6):
        attend(torch.randn(1, 1, 8), keys)
        keys = torch.cat([keys, torch.randn(1, 1, 8)], 1)
