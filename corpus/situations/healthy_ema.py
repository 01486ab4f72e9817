# Training with an exponential moving average of the parameters.
import torch

model = torch.nn.Linear(8, 2)
average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
forward = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    forward(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    average.update_parameters(model)
