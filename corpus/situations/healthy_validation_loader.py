# Training on batches of 8 and validation on batches of 16, of which the last is smaller.
import torch

data = torch.utils.data.TensorDataset(torch.randn(40, 6), torch.randint(0, 3, (40,)))
training = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
validation = torch.utils.data.DataLoader(data, batch_size=16)
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.Dropout(0.1), torch.nn.Linear(12, 3))
forward = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    model.train()
    for x, y in training:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(forward(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for x, y in validation:
            forward(x).argmax(-1)
