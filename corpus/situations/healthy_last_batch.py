# A training loop over a data set whose last batch is smaller.
import torch

data = torch.utils.data.TensorDataset(torch.randn(22, 8), torch.randn(22, 1))
loader = torch.utils.data.DataLoader(data, batch_size=8)
model = torch.nn.Linear(8, 1)
forward = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(forward(x), y).backward()
        optimizer.step()
