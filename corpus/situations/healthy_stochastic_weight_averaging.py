# pytorch docs optim.swa_utils: an averaged model with its own rate and batch norm update, both compiled.
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
averaged = AveragedModel(model)
forward = torch.compile(model, backend="aot_eager")
forward_averaged = torch.compile(averaged, backend="aot_eager")
loader = DataLoader(TensorDataset(torch.randn(32, 8), torch.randint(0, 3, (32,))), batch_size=8, shuffle=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
slow = SWALR(optimizer, swa_lr=0.05)
for epoch in range(5):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(forward(x), y).backward()
        optimizer.step()
    if epoch >= 2:
        averaged.update_parameters(model)
        slow.step()
    else:
        cosine.step()
update_bn(loader, averaged)
averaged.eval()
with torch.no_grad():
    for x, y in loader:
        forward_averaged(x)
