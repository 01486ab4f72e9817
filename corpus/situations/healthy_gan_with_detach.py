# pytorch/pytorch#141589: the discriminator gets real images, detached fakes and fakes with gradients.
import torch

generator = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh())
critic = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LeakyReLU(), torch.nn.Linear(8, 1))
make, judge = torch.compile(generator, backend="eager"), torch.compile(critic, backend="eager")
first = torch.optim.Adam(generator.parameters())
second = torch.optim.Adam(critic.parameters())
for _ in range(3):
    fake = make(torch.randn(4, 2))
    (judge(fake.detach()).mean() - judge(torch.randn(4, 8)).mean()).backward()
    second.step()
    second.zero_grad()
    (-judge(fake).mean()).backward()
    first.step()
    first.zero_grad()
with torch.no_grad():
    make(torch.randn(16, 2))
