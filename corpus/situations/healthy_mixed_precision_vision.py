# pytorch/examples imagenet with AMP: scaler, clipped gradients, accumulation and a warm-up.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SmallNet(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d(1),
        )
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


torch.manual_seed(0)
train_set = TensorDataset(torch.randn(36, 3, 16, 16), torch.randint(0, 5, (36,)))
val_set = TensorDataset(torch.randn(20, 3, 16, 16), torch.randint(0, 5, (20,)))
train_loader = DataLoader(train_set, batch_size=8, shuffle=True, drop_last=True)
val_loader = DataLoader(val_set, batch_size=8)

model = SmallNet()
net = torch.compile(model, backend="aot_eager")
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4)
scaler = torch.amp.GradScaler("cpu")
for epoch in range(2):
    net.train()
    for step, (images, target) in enumerate(train_loader):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = criterion(net(images), target) / 2
        scaler.scale(loss).backward()
        if step % 2 == 1:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
            warmup.step()
    net.eval()
    right = 0
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for images, target in val_loader:
            right += (net(images).argmax(1) == target).sum().item()
    print(epoch, right / len(val_set))
