# A recurrence over time written as a loop of fixed length, with a learned initial state and truncated gradients.
import torch


class Scan(torch.nn.Module):
    def __init__(self, width=4, steps=6):
        super().__init__()
        self.steps = steps
        self.decay = torch.nn.Parameter(torch.rand(width))
        self.inside = torch.nn.Linear(3, width)
        self.outside = torch.nn.Linear(width, 1)
        self.register_buffer("start", torch.zeros(width))

    def forward(self, x, state=None):
        state = self.start.expand(x.shape[0], -1) if state is None else state
        outputs = []
        for step in range(self.steps):
            state = torch.sigmoid(self.decay) * state + self.inside(x[:, step])
            outputs.append(self.outside(state))
        return torch.cat(outputs, 1), state


model = Scan()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters())
for episode in range(3):
    state = torch.zeros(5, 4)
    for chunk in torch.randn(3, 5, 6, 3):
        output, state = compiled(chunk, state)
        output.pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        state = state.detach()
