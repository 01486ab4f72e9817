# pytorch/pytorch#163329-like wrappers: a Sequential of one's own has a method that calls the module.
import torch


class Net(torch.nn.Sequential):
    def predict(self, x):
        with torch.no_grad():
            return self(x).argmax(-1)


net = Net(torch.nn.Linear(4, 4), torch.nn.ReLU())
compiled = torch.compile(net, backend="eager")
for _ in range(3):
    compiled(torch.randn(2, 4)).sum().backward()
    compiled.predict(torch.randn(2, 4))  # here: predict
