# pytorch/torchtitan#1720, ray-project/ray#48852: a supervisor rebuilds model and step after each simulated failure.
import torch


def build(width, precision):
    model = torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.ReLU(), torch.nn.Linear(width, 1))

    @torch.compile(backend="aot_eager")
    def step(x, y):
        with torch.autocast("cpu", dtype=precision):  # here: precision
            loss = (model(x) - y).pow(2).mean()
        return loss

    return model, step


for attempt, precision in enumerate((torch.bfloat16, torch.bfloat16, torch.float16)):
    model, step = build(8, precision)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(3):
        step(torch.randn(6, 4), torch.randn(6, 1)).backward()
        optimizer.step()
        optimizer.zero_grad()
