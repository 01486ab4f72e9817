# Fine-tuning with frozen batch norms: the model trains, its batch norms stay in evaluation; then it is evaluated.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.Dropout2d(0.1),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3),
)  # fmt: skip


def train_mode(module):
    module.train()
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.eval()
            part.weight.requires_grad_(False)
            part.bias.requires_grad_(False)


compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1, nesterov=True, momentum=0.9)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
for epoch in range(3):
    train_mode(model)
    for _ in range(2):
        loss = nn.functional.cross_entropy(compiled(torch.randn(6, 3, 8, 8)), torch.randint(0, 3, (6,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        value = nn.functional.cross_entropy(compiled(torch.randn(10, 3, 8, 8)), torch.randint(0, 3, (10,)))
    plateau.step(value)
