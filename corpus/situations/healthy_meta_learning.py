# pytorch/pytorch#115122: an inner step on `functional_call`, differentiated through, compiled as one function.
import torch
from torch.func import functional_call, grad

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
parameters = {name: value.detach().clone().requires_grad_() for name, value in model.named_parameters()}


def loss_of(weights, x, y):
    return (functional_call(model, weights, (x,)) - y).square().mean()


@torch.compile(backend="aot_eager")
def adapted_loss(weights, support, target, query, answer):
    gradients = grad(loss_of)(weights, support, target)
    adapted = {name: weights[name] - 0.1 * gradients[name] for name in weights}
    return loss_of(adapted, query, answer)


optimizer = torch.optim.Adam(parameters.values(), lr=1e-2)
for _ in range(5):
    amplitude = torch.rand(1) * 4
    support, query = torch.rand(8, 1), torch.rand(8, 1)
    loss = adapted_loss(parameters, support, amplitude * support.sin(), query, amplitude * query.sin())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
