# pytorch/pytorch#121504: one trunk, two heads compiled apart, batches of two tasks in turn, gradients that are summed.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU())
classify, regress = nn.Linear(16, 3), nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))
run_trunk = torch.compile(trunk, backend="aot_eager")
run_classify = torch.compile(classify, backend="aot_eager")
run_regress = torch.compile(regress, backend="aot_eager")
weights = nn.Parameter(torch.zeros(2))
everything = [*trunk.parameters(), *classify.parameters(), *regress.parameters(), weights]
optimizer = torch.optim.AdamW(everything, lr=1e-3)
for epoch in range(2):
    trunk.train()
    for _ in range(3):
        optimizer.zero_grad()
        first = F.cross_entropy(run_classify(run_trunk(torch.randn(8, 10))), torch.randint(0, 3, (8,)))
        second = F.mse_loss(run_regress(run_trunk(torch.randn(8, 10))).squeeze(1), torch.randn(8))
        (torch.stack([first, second]) * torch.exp(-weights) + weights).sum().backward()
        optimizer.step()
    trunk.eval()
    with torch.no_grad():
        features = run_trunk(torch.randn(8, 10))
        run_classify(features), run_regress(features)
