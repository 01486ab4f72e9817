# pytorch/rl: REINFORCE with a recurrent policy; episodes have one length, the update replays them.
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, observation, hidden, memory):
        hidden, memory = self.cell(observation, (hidden, memory))
        return self.head(hidden).log_softmax(-1), hidden, memory


torch.manual_seed(0)
policy = Policy()
step = torch.compile(policy, backend="aot_eager")
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
environments, length = 4, 6
for _ in range(3):
    observation = torch.randn(environments, 3)
    hidden, memory = torch.zeros(environments, 8), torch.zeros(environments, 8)
    observations, actions, rewards = [], [], []
    with torch.no_grad():
        for _ in range(length):
            log_probs, hidden, memory = step(observation, hidden, memory)
            action = torch.multinomial(log_probs.exp(), 1)
            observations.append(observation)
            actions.append(action)
            rewards.append(-observation.abs().sum(-1))
            observation = (observation + 0.1 * (action - 0.5)).tanh()
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    hidden, memory = torch.zeros(environments, 8), torch.zeros(environments, 8)
    loss = torch.zeros(())
    for observation, action, gain in zip(observations, actions, returns):
        log_probs, hidden, memory = step(observation, hidden, memory)
        loss = loss - (log_probs.gather(1, action).squeeze(1) * gain).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
