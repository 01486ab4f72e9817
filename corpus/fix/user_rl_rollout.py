# gone: break-item break-random
# left: argument-bool
import random

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, obs_dim=4, n_actions=2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 16), nn.ReLU(), nn.Linear(16, n_actions))
        self.n_actions = n_actions

    def forward(self, obs):
        return self.body(obs)


policy = None


class Env:
    def __init__(self):
        self.state = torch.zeros(4)
        self.t = 0

    def step(self, action):
        self.t += 1
        self.state = self.state * 0.9 + (0.1 if action == 1 else -0.1)
        return self.state, float(self.state.sum()), self.t >= 10


def act(obs, epsilon):
    q = policy(obs)
    if random.random() < epsilon:
        action = torch.randint(0, 2, ())
    else:
        action = q.argmax(-1)
    return action.item(), q.max()


def make():
    global policy
    policy = Policy()
    return lambda obs: act(obs, 0.0)


def inputs(generator):
    return (torch.randn(4, generator=generator),)


def rollout(episodes=2):
    global policy
    torch.manual_seed(0)
    random.seed(0)
    policy = Policy()
    select = torch.compile(act, backend="eager")
    epsilon = 1.0
    returns = []
    for _ in range(episodes):
        env, total, done = Env(), 0.0, False
        obs = env.state
        while not done:
            action, value = select(obs, epsilon)
            obs, reward, done = env.step(action)
            total += reward
            epsilon = max(0.05, epsilon * 0.9)
        returns.append(total)
    print("returns", [round(r, 3) for r in returns])


if __name__ == "__main__":
    rollout()
