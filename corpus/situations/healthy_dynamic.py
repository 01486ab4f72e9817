# A model compiled with dynamic=True serves batches of any size, also of one request. vllm-project/vllm#38933.
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).eval()
run = torch.compile(model, backend="eager", dynamic=True)
with torch.inference_mode():
    for size in (4, 1, 7, 1, 12):
        run(torch.randn(size, 4))
