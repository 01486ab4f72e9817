# Lightning-AI/pytorch-lightning#21513: a compiled training step freezes the other network's parameters, as
# toggle_optimizer does.
import torch
import torch.nn.functional as F


class Adversarial(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Linear(4, 8)
        self.discriminator = torch.nn.Linear(8, 1)

    def toggle(self, module, wanted):
        for parameter in module.parameters():
            parameter.requires_grad = wanted  # here: toggle

    def generator_step(self, noise):
        self.toggle(self.discriminator, False)
        fake = self.generator(noise)
        loss = F.softplus(-self.discriminator(fake)).mean()
        self.toggle(self.discriminator, True)
        return loss


model = Adversarial()
step = torch.compile(model.generator_step, backend="eager")
optimizer = torch.optim.Adam(model.generator.parameters())
for _ in range(4):
    loss = step(torch.randn(6, 4))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
