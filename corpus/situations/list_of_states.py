# foundation-model-stack/foundation-model-stack#387: the states of earlier steps are items of a list.
import torch


@torch.compile(backend="eager")
def mix(states):
    return torch.stack(states).mean(0)  # here: list


states = [torch.randn(4), torch.randn(4)]
for _ in range(6):
    mix(states)
    states.append(torch.randn(4))
