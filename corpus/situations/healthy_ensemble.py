# An ensemble with torch.func: stacked parameters, functional_call under vmap, gradients of all members in one call.
import copy

import torch
import torch.nn.functional as F
from torch.func import functional_call, grad, stack_module_state, vmap

members = [torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)) for _ in range(4)]
parameters, buffers = stack_module_state(members)
skeleton = copy.deepcopy(members[0]).to("meta")


def loss(parameters, buffers, x, y):
    return F.mse_loss(functional_call(skeleton, (parameters, buffers), (x,)).squeeze(-1), y)


@torch.compile(backend="aot_eager")
def gradients(parameters, buffers, x, y):
    return vmap(grad(loss), in_dims=(0, 0, None, None))(parameters, buffers, x, y)


for _ in range(6):
    x = torch.randn(16, 3)
    slopes = gradients(parameters, buffers, x, x.sum(-1))
    with torch.no_grad():
        for name, slope in slopes.items():
            parameters[name].sub_(0.05 * slope)
