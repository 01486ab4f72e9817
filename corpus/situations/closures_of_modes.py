# vllm-project/speculators#731: a function that captures a name is made before each call.
import torch


def masking(mode):
    def mask(x):
        return x.tril() if mode == "causal" else x.triu() if mode == "window" else x

    return mask


@torch.compile(backend="eager")
def attend(x, mask):
    return mask(x).softmax(-1)  # here: mask


for mode in ("causal", "window", "full", "causal"):
    attend(torch.randn(4, 4), masking(mode))
