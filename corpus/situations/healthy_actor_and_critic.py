# Two networks of one class with other heads. leggedrobotics/rsl_rl#199.
import torch


class Network(torch.nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.body, self.head = torch.nn.Linear(4, 8), torch.nn.Linear(8, outputs)

    def forward(self, x):
        return self.head(self.body(x).tanh())


actor, critic = Network(3), Network(1)
act, judge = torch.compile(actor, backend="aot_eager"), torch.compile(critic, backend="aot_eager")
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
for _ in range(3):
    with torch.no_grad():
        state = torch.cat([act(torch.randn(1, 4)) for _ in range(6)])
    x = torch.randn(6, 4)
    optimizer.zero_grad()
    (act(x).log_softmax(-1).mean() * judge(x).detach().mean() + judge(x).square().mean()).backward()
    optimizer.step()
