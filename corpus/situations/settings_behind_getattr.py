# open-mmlab/mmengine#1610: settings lie in a dict whose items are read as attributes through __getattr__.
import torch


class Settings(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error


class Head(torch.nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.project = torch.nn.Linear(settings.width, 3)

    def forward(self, x):
        if self.settings.pooling == "mean":  # here: pooling
            x = x.mean(1)
        else:
            x = x.amax(1)
        return self.project(x) / self.settings.temperature  # here: temperature


settings = Settings(width=8, pooling="mean", temperature=1.5)
model = torch.compile(Head(settings), backend="eager")
for epoch in range(6):
    settings["temperature"] = 1.5 - 0.2 * epoch
    if epoch == 4:
        settings["pooling"] = "max"
    for _ in range(2):
        model(torch.randn(2, 5, 8)).sum().backward()
