"""vwxyzjn/cleanrl (and pytorch-labs/LeanRL): rollout with a compiled policy, update with a compiled step."""

import torch
from torch import nn
from torch.distributions import Categorical


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
        self.critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        probabilities = Categorical(logits=self.actor(x))
        if action is None:
            action = probabilities.sample()
        return action, probabilities.log_prob(action), probabilities.entropy(), self.critic(x)


def gae(rewards, values, dones, next_value, next_done, gamma=0.99, decay=0.95):
    steps = rewards.shape[0]
    advantages = []
    last = torch.zeros_like(next_value)
    for t in reversed(range(steps)):
        alive = 1.0 - (next_done if t == steps - 1 else dones[t + 1])
        following = next_value if t == steps - 1 else values[t + 1]
        delta = rewards[t] + gamma * following * alive - values[t]
        last = delta + gamma * decay * alive * last
        advantages.append(last)
    return torch.stack(advantages[::-1])


torch.manual_seed(0)
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
policy = torch.compile(agent.get_action_and_value, backend="eager")
gae = torch.compile(gae, backend="eager", fullgraph=True)


def update(states, actions, old, advantages, returns, clip):
    optimizer.zero_grad()
    _, log, entropy, value = agent.get_action_and_value(states, actions)
    ratio = (log - old).exp()
    if clip > 0:
        first = torch.max(-advantages * ratio, -advantages * ratio.clamp(1 - clip, 1 + clip)).mean()
    else:
        first = (-advantages * ratio).mean()
    loss = first - 0.01 * entropy.mean() + 0.5 * (value.view(-1) - returns).square().mean()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
    optimizer.step()
    return loss.detach()


update = torch.compile(update, backend="eager")
state = torch.randn(4, 4)
for iteration in range(4):
    optimizer.param_groups[0]["lr"] = (1 - iteration / 4) * 2.5e-4
    clip = 0.2 * (1 - iteration / 4)
    rows = []
    for _ in range(8):
        with torch.no_grad():
            action, log, _, value = policy(state)
        rows.append((state, action, log, value.flatten(), torch.randn(4), torch.zeros(4)))
        state = torch.randn(4, 4)
    states, actions, logs, values, rewards, dones = (torch.stack(column) for column in zip(*rows, strict=True))
    with torch.no_grad():
        advantages = gae(rewards, values, dones, agent.get_value(state).flatten(), torch.zeros(4))
    returns = (advantages + values).flatten()
    for index in torch.randperm(32).split(12):
        update(
            states.flatten(0, 1)[index], actions.flatten()[index], logs.flatten()[index], advantages.flatten()[index],
            returns[index], clip,
        )
