# pytorch/pytorch#120814: a quadratic optimizer calls the compiled loss several times in each step.
import torch

model = torch.nn.Linear(4, 1)
x, y = torch.randn(16, 4), torch.randn(16, 1)


@torch.compile(backend="eager")
def loss_of(x, y):
    return (model(x) - y).pow(2).mean()


optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = loss_of(x, y)
    loss.backward()
    return loss


for _ in range(3):
    optimizer.step(closure)
with torch.no_grad():
    loss_of(x, y)
