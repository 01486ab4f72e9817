"""Has a loader with worker processes, of which each compiles."""

import torch
from compiled import broken, some
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        return broken(torch.full((2,), float(index)))


print(broken(some()).tolist(), flush=True)
for batch in DataLoader(Numbers(), batch_size=2, num_workers=2):
    print(batch.tolist(), flush=True)
