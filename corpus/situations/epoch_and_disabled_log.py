# Lightning-AI/pytorch-lightning#21837, #17933: the step logs through a disabled method and reads the epoch.
import torch


class Step(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.epoch, self.logged = 0, {}

    @torch.compiler.disable
    def log(self, name, value):
        self.logged[name] = value.detach()

    def forward(self, x):
        loss = self.layer(x).pow(2).mean()
        self.log("loss", loss)  # here: log
        if self.epoch >= 2:  # here: epoch
            loss = loss + 0.1 * self.layer.weight.abs().sum()
        return loss


step = Step()
optimizer = torch.optim.SGD(step.parameters(), lr=0.1)
compiled = torch.compile(step, backend="eager")
for epoch in range(5):
    step.epoch = epoch
    for _ in range(2):
        compiled(torch.randn(8, 4)).backward()
        optimizer.step()
        optimizer.zero_grad()
