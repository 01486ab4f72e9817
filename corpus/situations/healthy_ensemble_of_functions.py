# pytorch/functorch model ensembling: stacked parameters, vmap over models, gradients of each sample.
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3)) for _ in range(4)]
parameters, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")


def loss_of(parameters, buffers, x, y):
    return F.cross_entropy(functional_call(base, (parameters, buffers), (x,)), y)


@torch.compile(backend="aot_eager")
def train_step(parameters, buffers, x, y, rate):
    gradients, losses = vmap(grad_and_value(loss_of), in_dims=(0, 0, None, None))(parameters, buffers, x, y)
    return {name: value - rate * gradients[name] for name, value in parameters.items()}, losses


@torch.compile(backend="aot_eager")
def predict(parameters, buffers, x):
    logits = vmap(lambda p, b: functional_call(base, (p, b), (x,)))(parameters, buffers)
    return logits.softmax(-1).mean(0)


parameters = {name: value.detach() for name, value in parameters.items()}
rate = torch.tensor(0.1)
for _ in range(5):
    parameters, losses = train_step(parameters, buffers, torch.randn(8, 6), torch.randint(0, 3, (8,)), rate)
predict(parameters, buffers, torch.randn(20, 6))
