# pytorch/rl: double Q-learning whose whole loss is one compiled function; the target follows softly.
import copy
import random

import torch
from torch import nn


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU())
        self.value, self.advantage = nn.Linear(24, 1), nn.Linear(24, 3)

    def forward(self, x):
        x = self.body(x)
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(-1, keepdim=True)


torch.manual_seed(0)
random.seed(0)
online = QNetwork()
target = copy.deepcopy(online).requires_grad_(False)


@torch.compile(backend="aot_eager")
def td_loss(states, actions, rewards, following, done):
    q = online(states).gather(1, actions).squeeze(1)
    with torch.no_grad():
        best = online(following).argmax(1, keepdim=True)
        wanted = rewards + 0.99 * (1 - done) * target(following).gather(1, best).squeeze(1)
    return nn.functional.smooth_l1_loss(q, wanted)


act = torch.compile(online, backend="aot_eager")
optimizer = torch.optim.AdamW(online.parameters(), lr=1e-3)
memory, state, epsilon = [], torch.randn(4), 1.0
for step in range(40):
    if random.random() < epsilon:
        action = random.randrange(3)
    else:
        with torch.no_grad():
            action = act(state[None]).argmax().item()
    following = (state + 0.1 * (action - 1)).tanh()
    memory.append((state, action, -following.abs().sum().item(), following, float(step % 10 == 9)))
    state, epsilon = following, max(0.1, epsilon * 0.9)
    if len(memory) >= 16:
        states, actions, rewards, followings, done = zip(*random.sample(memory, 16))
        loss = td_loss(
            torch.stack(states),
            torch.tensor(actions)[:, None],
            torch.tensor(rewards),
            torch.stack(followings),
            torch.tensor(done),
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(online.parameters(), 100)
        optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(target.parameters()), list(online.parameters()), 0.01)
