# PriorLabs/TabPFN#1166: an encoder asks whether a table has missing values, and how many columns are categories.
import torch


@torch.compile(backend="eager")
def encode(table, categories):
    if torch.isnan(table).any():  # here: asked
        table = torch.nan_to_num(table)
    return table.mean(0) + len(categories)


encode(torch.ones(8, 4), [0])
encode(torch.ones(8, 4), [0, 2])
encode(torch.full((8, 4), float("nan")), [0, 2, 3])
