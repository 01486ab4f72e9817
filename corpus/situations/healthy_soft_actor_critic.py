# DLR-RM/stable-baselines3 SAC: an actor, two critics, a learned temperature, and a replay buffer.
import copy

import torch
import torch.nn.functional as F
from torch import nn


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, outputs))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = network(3, 2)

    def forward(self, state):
        mean, log_std = self.net(state).chunk(2, -1)
        std = log_std.clamp(-5, 2).exp()
        sample = mean + std * torch.randn_like(mean)
        action = sample.tanh()
        log_prob = -0.5 * ((sample - mean) / std).square() - std.log() - (1 - action.square() + 1e-6).log()
        return action, log_prob.sum(-1)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = network(4, 1), network(4, 1)

    def forward(self, state, action):
        x = torch.cat([state, action], -1)
        return self.first(x).squeeze(-1), self.second(x).squeeze(-1)


torch.manual_seed(0)
actor, critic = Actor(), Critic()
target = copy.deepcopy(critic).requires_grad_(False)
log_alpha = torch.zeros((), requires_grad=True)
act = torch.compile(actor, backend="aot_eager")
judge = torch.compile(critic, backend="aot_eager")
judge_target = torch.compile(target, backend="aot_eager")
of_actor = torch.optim.Adam(actor.parameters(), lr=3e-4)
of_critic = torch.optim.Adam(critic.parameters(), lr=3e-4)
of_alpha = torch.optim.Adam([log_alpha], lr=3e-4)
buffer = [torch.zeros(64, 3), torch.zeros(64, 1), torch.zeros(64), torch.zeros(64, 3)]
state = torch.randn(1, 3)
for step in range(40):
    with torch.no_grad():
        action, _ = act(state)
    following = (state + 0.1 * action).tanh()
    for part, value in zip(buffer, (state, action, -following.abs().sum(), following)):
        part[step % 64] = value
    state = following
    if step < 16:
        continue
    index = torch.randint(0, step, (16,))
    states, actions, rewards, followings = (part[index] for part in buffer)
    alpha = log_alpha.exp().detach()
    with torch.no_grad():
        next_actions, log_prob = act(followings)
        wanted = rewards + 0.99 * (torch.min(*judge_target(followings, next_actions)) - alpha * log_prob)
    loss = sum(F.mse_loss(value, wanted) for value in judge(states, actions))
    of_critic.zero_grad()
    loss.backward()
    of_critic.step()
    new_actions, log_prob = act(states)
    loss = (alpha * log_prob - torch.min(*judge(states, new_actions))).mean()
    of_actor.zero_grad()
    loss.backward()
    of_actor.step()
    of_alpha.zero_grad()
    (-log_alpha.exp() * (log_prob.detach() - 1)).mean().backward()
    of_alpha.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), critic.parameters()):
            slow.lerp_(fast, 0.005)
