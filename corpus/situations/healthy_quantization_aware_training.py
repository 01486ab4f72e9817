# pytorch/ao: fake quantization with observed ranges in buffers; observers are switched off through a tensor.
import torch
import torch.nn.functional as F
from torch import nn


class FakeQuantize(nn.Module):
    def __init__(self, bits=8):
        super().__init__()
        self.low, self.high = 0, 2**bits - 1
        self.register_buffer("minimum", torch.zeros(()))
        self.register_buffer("maximum", torch.ones(()))
        self.register_buffer("observing", torch.ones((), dtype=torch.bool))

    def forward(self, x):
        if self.training:
            detached = x.detach()
            minimum = self.minimum.lerp(detached.amin().clamp(max=0), 0.1)
            maximum = self.maximum.lerp(detached.amax(), 0.1)
            self.minimum.copy_(torch.where(self.observing, minimum, self.minimum))
            self.maximum.copy_(torch.where(self.observing, maximum, self.maximum))
        scale = ((self.maximum - self.minimum) / (self.high - self.low)).clamp(min=1e-6)
        zero = (self.low - self.minimum / scale).round().clamp(self.low, self.high).to(torch.int32)
        return torch.fake_quantize_per_tensor_affine(x, scale, zero, self.low, self.high)


class QuantizedLinear(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.of_weight, self.of_input = FakeQuantize(), FakeQuantize()

    def forward(self, x):
        return F.linear(self.of_input(x), self.of_weight(self.weight), self.bias)


torch.manual_seed(0)
model = nn.Sequential(QuantizedLinear(8, 16), nn.ReLU(), QuantizedLinear(16, 4))
net = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    net.train()
    if epoch == 2:
        for module in model.modules():
            if isinstance(module, FakeQuantize):
                module.observing.fill_(False)
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.randn(8, 8)).square().mean().backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        net(torch.randn(8, 8))
