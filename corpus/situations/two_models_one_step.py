# pytorch/pytorch#143670: one compiled step serves a teacher and a student of other classes, and then a bigger batch.
import torch


class Teacher(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x)


class Student(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 3), torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.second(self.first(x).relu())


@torch.compile(backend="eager")
def step(model, x):
    return model(x).pow(2).mean()


teacher, student = Teacher(), Student()
for size in (4, 4, 6, 7):
    step(teacher, torch.randn(size, 4)).backward()
    step(student, torch.randn(size, 4)).backward()
