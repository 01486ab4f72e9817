import torch

layer = torch.nn.Linear(6, 6)


class Request:
    def __init__(self, name, x):
        self.name = name
        self.x = x


def serve(request):
    class Handler:
        scale = 2.0

        def run(self, x):
            return torch.relu(layer(x)) * self.scale

    return process(Handler(), request.x)


@torch.compile
def process(handler, x):
    return handler.run(x).sum()


torch.manual_seed(10)
layer.reset_parameters()
total = 0.0
with torch.no_grad():
    for step in range(12):
        total += float(serve(Request(f"request {step}", torch.randn(3, 6))))
print("result", round(total, 4))
