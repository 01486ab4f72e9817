# huggingface/peft#3241-like multi-task model: the task is a string that selects a head, three tasks in turn.
import torch


class MultiTask(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 8)
        sizes = {"box": 4, "label": 3, "mask": 6}
        self.heads = torch.nn.ModuleDict({name: torch.nn.Linear(8, size) for name, size in sizes.items()})

    def forward(self, x, task):
        return self.heads[task](self.body(x).relu())  # here: task


model = torch.compile(MultiTask(), backend="eager")
for _ in range(2):
    for task in ("box", "label", "mask"):
        model(torch.randn(2, 4), task).sum().backward()
