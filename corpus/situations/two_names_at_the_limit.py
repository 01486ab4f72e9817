# vllm-project/vllm#25110: a kind and a layout, three of each, in all combinations.
import torch


@torch.compile(backend="eager")
def convert(x, kind, layout):
    x = x * len(kind)  # here: kind
    return x + len(layout)  # here: layout


for kind in ("a", "bb", "ccc"):
    for layout in ("row", "column", "blocked"):
        convert(torch.ones(2), kind, layout)
convert(torch.ones(2), "dddd", "row")
