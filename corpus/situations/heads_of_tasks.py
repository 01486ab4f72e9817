# huggingface/peft#3241-like multi-task model: the task is a string that selects a head, three tasks in turn.
import torch


class MultiTask(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 8)
        self.heads = torch.nn.ModuleDict({"box": torch.nn.Linear(8, 4), "label": torch.nn.Linear(8, 3), "mask": torch.nn.Linear(8, 6)})

    def forward(self, x, task):
        return self.heads[task](self.body(x).relu())  # here: task


model = torch.compile(MultiTask(), backend="eager")
for _ in range(2):
    for task in ("box", "label", "mask"):
        model(torch.randn(2, 4), task).sum().backward()
