# An actor and a critic: single steps without gradients, updates on batches, the last one smaller. pytorch/rl#3297.
import torch


class Agent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 16)
        self.actor, self.critic = torch.nn.Linear(16, 2), torch.nn.Linear(16, 1)

    def forward(self, x):
        x = self.body(x).tanh()
        return self.actor(x), self.critic(x).squeeze(-1)


agent = Agent()
run = torch.compile(agent, backend="aot_eager")
optimizer = torch.optim.Adam(agent.parameters(), lr=0.01)
for _ in range(2):
    states, values = [], []
    state = torch.randn(1, 4)
    with torch.no_grad():
        for _ in range(20):
            logits, value = run(state)
            states.append(state)
            values.append(value)
            state = (state + 0.1 * logits.argmax(-1)).tanh()
    for batch, old in zip(torch.cat(states).split(8), torch.cat(values).split(8)):
        optimizer.zero_grad()
        logits, value = run(batch)
        (logits.log_softmax(-1).mean() + (value - old - 1).square().mean()).backward()
        optimizer.step()
