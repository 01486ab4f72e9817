# pytorch/rl#2622, huggingface/trl#3890: a base class counts its updates in a property; the subclass reads it in the
# loss.
import torch
import torch.nn.functional as F


class Objective(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._updates = 0

    @property
    def progress(self):
        return min(1.0, self._updates / 10)  # here: updates

    def tick(self):
        self._updates += 1


class ClippedObjective(Objective):
    def __init__(self, low=0.1, high=0.3):
        super().__init__()
        self.low, self.high = low, high
        self.policy = torch.nn.Linear(4, 3)

    def forward(self, states, actions, old, advantage):
        clip = self.high + (self.low - self.high) * self.progress
        new = F.log_softmax(self.policy(states), -1).gather(1, actions[:, None]).squeeze(1)
        ratio = (new - old).exp()
        return -torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()


objective = ClippedObjective()
compiled = torch.compile(objective, backend="aot_eager")
optimizer = torch.optim.Adam(objective.parameters())
for update in range(6):
    states, actions = torch.randn(8, 4), torch.randint(3, (8,))
    for _ in range(2):
        compiled(states, actions, torch.randn(8), torch.randn(8)).backward()
        optimizer.step()
        optimizer.zero_grad()
    objective.tick()
