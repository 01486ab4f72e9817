# huggingface/transformers#45816: a vision encoder reads its grid of patches on the host, in the compiled function.
import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(6, 6)

    def positions(self, grid):
        ids = []
        for height, width in grid.tolist():  # here: list
            ids.append(torch.arange(height * width))
        return torch.cat(ids)

    def forward(self, x, grid):
        x = self.proj(x)
        return x * torch.cos(self.positions(grid)[:, None] / 10)


encoder = torch.compile(Encoder(), backend="eager")
for grid in ([[2, 3]], [[2, 2], [3, 1]], [[4, 4]]):
    grid = torch.tensor(grid)
    encoder(torch.randn(int(grid.prod(1).sum()), 6), grid)
