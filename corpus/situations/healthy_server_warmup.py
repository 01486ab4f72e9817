# vllm-project/vllm#14580: a server is warmed up with batches of 1, 2, 4 and 8, and then serves others.
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).eval()
serve = torch.compile(model, backend="eager")
with torch.inference_mode():
    for batch in (1, 2, 4, 8):
        serve(torch.ones(batch, 4))
    for batch in (3, 1, 7, 5):
        serve(torch.ones(batch, 4))
