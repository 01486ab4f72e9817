# Training under torch's profiler, with named ranges in the model. pytorch/rl#3297.
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        with torch.profiler.record_function("linear"):
            return self.linear(x).relu()


model = Model()
run = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
    for _ in range(3):
        optimizer.zero_grad()
        run(torch.randn(4, 4)).square().mean().backward()
        optimizer.step()
