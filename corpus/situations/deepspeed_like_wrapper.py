# microsoft/DeepSpeed#7440, huggingface/accelerate#3522: an engine wraps the compiled module, moves inputs, and times
# each call.
import time

import torch


class Engine(torch.nn.Module):
    def __init__(self, module, device="cpu"):
        super().__init__()
        self.module = module
        self.device = torch.device(device)
        self.times = []

    def forward(self, *args, **kwargs):
        args = [value.to(self.device) if torch.is_tensor(value) else value for value in args]
        begin = time.perf_counter()  # here: begin
        output = self.module(*args, **kwargs)
        self.times.append(time.perf_counter() - begin)  # here: end
        return output


model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.SiLU(), torch.nn.Linear(8, 2))
engine = torch.compile(Engine(model), backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(4):
    engine(torch.randn(3, 4)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
