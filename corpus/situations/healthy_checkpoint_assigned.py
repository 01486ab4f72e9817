# pytorch/pytorch#124717: an evaluation loads the checkpoint of each epoch with `assign=True` into a compiled model.
import torch


class Regressor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.norm = torch.nn.BatchNorm1d(16)
        self.second = torch.nn.Linear(16, 1)

    def forward(self, x):
        return self.second(torch.relu(self.norm(self.first(x))))


torch.manual_seed(0)
checkpoints = [Regressor().state_dict() for _ in range(4)]
model = Regressor().eval()
compiled = torch.compile(model, backend="eager")
for checkpoint in checkpoints:
    model.load_state_dict(checkpoint, assign=True)
    with torch.no_grad():
        for _ in range(3):
            compiled(torch.randn(4, 8))
