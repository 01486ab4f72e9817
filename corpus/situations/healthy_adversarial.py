# A generator and a discriminator, both compiled, are trained in turn.
import torch

generator = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
critic = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
make, judge = torch.compile(generator, backend="aot_eager"), torch.compile(critic, backend="aot_eager")
first = torch.optim.Adam(generator.parameters())
second = torch.optim.Adam(critic.parameters())
for _ in range(3):
    generated = make(torch.randn(8, 2))
    second.zero_grad()
    (judge(generated.detach()).mean() - judge(torch.randn(8, 4)).mean()).backward()
    second.step()
    first.zero_grad()
    judge(generated).mean().neg().backward()
    first.step()
