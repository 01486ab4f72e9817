# pytorch/rl#2501: the first observation is double and has no mask, later ones are float and have one.
import torch

policy = torch.nn.Linear(4, 3)


@torch.compile(backend="eager")
def act(observation, mask=None):
    logits = policy(observation.float())
    if mask is not None:
        logits = logits.masked_fill(~mask, float("-inf"))
    return logits.argmax(-1)


with torch.no_grad():
    act(torch.randn(2, 4, dtype=torch.float64))
    for _ in range(6):
        act(torch.randn(2, 4), torch.ones(2, 3, dtype=torch.bool))
