# vwxyzjn/cleanrl ppo.py with a compiled agent: action is None in the rollout and given in the update.
import torch
from torch import nn

STEPS, ENVIRONMENTS = 8, 4


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        logits = self.actor(x)
        if action is None:
            noise = -torch.empty_like(logits).exponential_().log()
            action = (logits + noise).argmax(-1)
        log_probs = logits.log_softmax(-1)
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        return action, log_probs.gather(-1, action[:, None]).squeeze(-1), entropy, self.critic(x)


torch.manual_seed(0)
agent = Agent()
get_action_and_value = torch.compile(agent.get_action_and_value, backend="aot_eager")
get_value = torch.compile(agent.get_value, backend="aot_eager")
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
obs = torch.zeros(STEPS, ENVIRONMENTS, 4)
actions = torch.zeros(STEPS, ENVIRONMENTS, dtype=torch.long)
logprobs, rewards, values = (torch.zeros(STEPS, ENVIRONMENTS) for _ in range(3))
state = torch.randn(ENVIRONMENTS, 4)
for iteration in range(1, 4):
    optimizer.param_groups[0]["lr"] = (1 - (iteration - 1) / 3) * 2.5e-4
    for step in range(STEPS):
        obs[step] = state
        with torch.no_grad():
            action, logprob, _, value = get_action_and_value(state)
        actions[step], logprobs[step], values[step] = action, logprob, value.flatten()
        state = (state + 0.1 * (action[:, None] - 0.5)).tanh()
        rewards[step] = -state.abs().sum(-1)
    with torch.no_grad():
        following = get_value(state).flatten()
        returns = torch.zeros_like(rewards)
        for t in reversed(range(STEPS)):
            following = returns[t] = rewards[t] + 0.99 * following
    advantages = returns - values
    order = torch.randperm(STEPS * ENVIRONMENTS)
    for epoch in range(2):
        for index in order.split(16):
            _, newlogprob, entropy, newvalue = get_action_and_value(
                obs.view(-1, 4)[index], actions.view(-1)[index]
            )
            ratio = (newlogprob - logprobs.view(-1)[index]).exp()
            gain = advantages.view(-1)[index]
            policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(0.8, 1.2)).mean()
            value_loss = (newvalue.flatten() - returns.view(-1)[index]).square().mean()
            loss = policy_loss + 0.5 * value_loss - 0.01 * entropy.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
