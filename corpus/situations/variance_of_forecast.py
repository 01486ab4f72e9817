# pytorch/pytorch#194503: a forecaster is trained by `gaussian_nll_loss`, and its history is cut where it is too long.
import torch


class Forecaster(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(6, 16)
        self.mean = torch.nn.Linear(16, 1)
        self.variance = torch.nn.Linear(16, 1)
        self.horizon = "day"

    def forward(self, history, target):
        if history.abs().max() > 8:  # here: clamp
            history = history.clamp(-8, 8)
        hidden = torch.relu(self.encoder(history))
        mean = self.mean(hidden)
        variance = torch.nn.functional.softplus(self.variance(hidden)) + 1e-4
        loss = torch.nn.functional.gaussian_nll_loss(mean, target, variance)  # here: loss
        return loss * (2.0 if self.horizon == "week" else 1.0)  # here: horizon


torch.manual_seed(0)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters())
compiled = torch.compile(model, backend="eager")
for number in range(6):
    model.horizon = ("day", "week", "month")[number % 3]
    loss = compiled(torch.randn(4, 6), torch.randn(4, 1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
