# pytorch/pytorch#141486 and vllm-project/speculators#731: the window of a mask is captured by a new closure each time.
import torch
from torch.nn.attention.flex_attention import flex_attention

attend = torch.compile(flex_attention, backend="eager")


def windowed(mode):
    def score(value, batch, head, query, key):
        return value * len(mode)  # here: use

    return score


for mode in ("a", "bb", "ccc"):
    x = torch.randn(1, 1, 8, 16)
    attend(x, x, x, score_mod=windowed(mode))
