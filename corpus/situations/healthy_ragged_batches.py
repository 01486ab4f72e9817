# Nested tensors with a jagged layout: each batch has other lengths.
import torch


class Pool(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(4, 8)
        self.down = torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.down(self.up(x).relu())


model = Pool()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters())
generator = torch.Generator().manual_seed(0)
for _ in range(5):
    lengths = torch.randint(2, 9, (3,), generator=generator).tolist()
    batch = torch.nested.nested_tensor([torch.randn(length, 4) for length in lengths], layout=torch.jagged)
    loss = compiled(batch).values().pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
