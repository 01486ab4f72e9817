"""pytorch/tensordict: a compiled step takes batches as TensorDict, whose keys and batch sizes differ."""

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule

torch.manual_seed(0)
net = TensorDictModule(torch.nn.Linear(4, 2), in_keys=["observation"], out_keys=["action"])


@torch.compile(backend="eager")
def step(data):
    data = net(data)
    return data["action"].sum() + data.get("reward", torch.zeros(()))


step(TensorDict({"observation": torch.randn(8, 4)}, batch_size=[8])).backward()
step(TensorDict({"observation": torch.randn(6, 4)}, batch_size=[6])).backward()
step(TensorDict({"observation": torch.randn(6, 4), "reward": torch.zeros(6)}, batch_size=[6])).sum().backward()
