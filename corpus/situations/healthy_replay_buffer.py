# A replay buffer fills up, batches are sampled from it, a target network follows; acting has a batch of one.
import copy

import torch
import torch.nn.functional as F


class Replay:
    def __init__(self, capacity):
        self.states, self.rewards = torch.zeros(capacity, 4), torch.zeros(capacity)
        self.size = 0

    def add(self, state, reward):
        self.states[self.size], self.rewards[self.size] = state, reward
        self.size += 1

    def sample(self, count):
        index = torch.randint(self.size, (count,))
        return self.states[index], self.rewards[index]


network = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
target = copy.deepcopy(network).requires_grad_(False)


@torch.compile(backend="aot_eager")
def act(state):
    return network(state).argmax(-1)


@torch.compile(backend="aot_eager")
def temporal_difference(states, rewards):
    with torch.no_grad():
        wanted = rewards + 0.9 * target(states).amax(-1)
    return F.smooth_l1_loss(network(states).amax(-1), wanted)


optimizer, replay = torch.optim.Adam(network.parameters()), Replay(64)
for step in range(24):
    state = torch.randn(4)
    with torch.no_grad():
        action = act(state[None])
    replay.add(state, action.float().item())
    if step >= 8:
        temporal_difference(*replay.sample(8)).backward()
        optimizer.step()
        optimizer.zero_grad()
        with torch.no_grad():
            for old, new in zip(target.parameters(), network.parameters()):
                old.lerp_(new, 0.05)
