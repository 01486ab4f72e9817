# A teacher in evaluation without gradients teaches a student; the teacher follows as a moving average.
import copy

import torch

student = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.GELU(), torch.nn.Dropout(0.1), torch.nn.Linear(12, 3))
teacher = copy.deepcopy(student).eval().requires_grad_(False)
learn, teach = torch.compile(student, backend="aot_eager"), torch.compile(teacher, backend="aot_eager")
optimizer = torch.optim.AdamW(student.parameters())
for _ in range(4):
    x = torch.randn(8, 6)
    with torch.no_grad():
        wanted = teach(x).softmax(-1)
    optimizer.zero_grad()
    torch.nn.functional.kl_div(learn(x).log_softmax(-1), wanted, reduction="batchmean").backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(teacher.parameters(), student.parameters()):
            slow.lerp_(fast, 0.1)
