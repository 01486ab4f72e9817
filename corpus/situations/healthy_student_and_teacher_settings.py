# Distillation: student and teacher are one class with other settings, each compiled; the teacher runs without
# gradients.
from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass(frozen=True)
class Settings:
    width: int = 8
    use_norm: bool = True
    activation: str = "gelu"


class Encoder(torch.nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.up = torch.nn.Linear(4, settings.width)
        self.norm = torch.nn.LayerNorm(settings.width)
        self.down = torch.nn.Linear(settings.width, 3)

    def forward(self, x):
        x = self.up(x)
        if self.settings.use_norm:
            x = self.norm(x)
        x = F.gelu(x) if self.settings.activation == "gelu" else F.relu(x)
        return self.down(x)


student = Encoder(Settings(width=4, use_norm=False, activation="relu"))
teacher = Encoder(Settings()).eval().requires_grad_(False)
fast_student, fast_teacher = (torch.compile(model, backend="aot_eager") for model in (student, teacher))
optimizer = torch.optim.AdamW(student.parameters())
for _ in range(5):
    x = torch.randn(6, 4)
    with torch.no_grad():
        target = fast_teacher(x).softmax(-1)
    F.cross_entropy(fast_student(x), target).backward()
    optimizer.step()
    optimizer.zero_grad()
