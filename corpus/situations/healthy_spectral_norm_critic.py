# pytorch/pytorch#136195: a critic with spectral norm, a generator, one step of each in turn, samples at the end.
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2))
critic = nn.Sequential(spectral_norm(nn.Linear(2, 16)), nn.LeakyReLU(0.2), spectral_norm(nn.Linear(16, 1)))
make, judge = torch.compile(generator, backend="aot_eager"), torch.compile(critic, backend="aot_eager")
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
for _ in range(4):
    real, noise = torch.randn(8, 2) + 2, torch.randn(8, 4)
    with torch.no_grad():
        fake = make(noise)
    loss = F.relu(1 - judge(real)).mean() + F.relu(1 + judge(fake)).mean()
    of_critic.zero_grad()
    loss.backward()
    of_critic.step()
    loss = -judge(make(torch.randn(8, 4))).mean()
    of_generator.zero_grad()
    loss.backward()
    of_generator.step()
generator.eval()
with torch.inference_mode():
    make(torch.randn(8, 4))
