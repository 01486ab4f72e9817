# huggingface/peft#2400, adapter-hub/adapters#746: the loop sets the name of the task on the model before each batch.
import random

import torch


class MultiTask(torch.nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = torch.nn.Linear(6, 8)
        self.heads = torch.nn.ModuleDict({task: torch.nn.Linear(8, size) for task, size in tasks.items()})
        self.task = next(iter(tasks))

    def forward(self, x):
        hidden = self.trunk(x).relu()
        return self.heads[self.task](hidden)  # here: task


model = MultiTask({"tagging": 5, "parsing": 7, "entailment": 2})
compiled = torch.compile(model, backend="aot_eager", mode=None)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
order = random.Random(0)
for _ in range(10):
    model.task = order.choice(["tagging", "parsing", "entailment"])
    loss = compiled(torch.randn(4, 6)).logsumexp(-1).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
