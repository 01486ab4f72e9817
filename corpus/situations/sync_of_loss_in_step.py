# karpathy/nanochat#350, pytorch/torchtune#2180: the compiled step guards against bad losses and logs, and counts
# skipped steps.
import logging

import torch
import torch.nn.functional as F

log = logging.getLogger("train")


class Trainer:
    def __init__(self, model):
        self.model = model
        self.skipped = 0

    @torch.compile(backend="eager")
    def loss(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        if not torch.isfinite(loss):  # here: finite
            self.skipped += 1
            return None
        return loss

    def fit(self, batches):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        for x, y in batches:
            loss = self.loss(x, y)
            if loss is not None:
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()


trainer = Trainer(torch.nn.Linear(3, 1))
batches = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(5)]
batches[2] = (torch.full((4, 3), float("nan")), torch.randn(4, 1))
trainer.fit(batches)
