# pytorch/tensordict#1606: a container of tensors writes a key under compile; the number of keys differs between calls.
import torch


class Batch:
    def __init__(self, **tensors):
        self._tensors = dict(tensors)

    def __getitem__(self, key):
        return self._tensors[key]

    def __setitem__(self, key, tensor):
        self._tensors[key] = tensor  # here: set

    def select(self, *keys):
        return Batch(**{key: self._tensors[key] for key in keys})


@torch.compile(backend="eager")
def add_returns(batch, gamma=0.9):
    batch["returns"] = batch["reward"] + gamma * batch["value"]
    return batch["returns"]


def rollout(stage):
    tensors = {"reward": torch.randn(8), "value": torch.randn(8)}
    tensors.update((f"extra_{number}", torch.randn(8)) for number in range(stage))
    return Batch(**tensors)


for stage in range(4):
    for _ in range(2):
        add_returns(rollout(stage)).mean()
