# pytorch/pytorch#173452: a forward hook keeps activations in a dict that is empty before the first call.
import torch

kept = {}
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())


def keep(module, inputs, output):
    kept["hidden"] = output.detach()


model[0].register_forward_hook(keep)
run = torch.compile(model, backend="eager")
with torch.no_grad():
    for _ in range(4):
        run(torch.randn(2, 4))
