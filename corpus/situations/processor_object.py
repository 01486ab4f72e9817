# pytorch/pytorch#163329: a new processor object is set on the attention block before each call.
import torch


class Processor:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return x.softmax(-1) * self.scale  # here: scale


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.processor = Processor(1.0)

    def forward(self, x):
        return self.processor(x)


block = Block()
run = torch.compile(block, backend="eager")
for scale in (0.5, 1.5, 2.5, 3.5):
    block.processor = Processor(scale)
    run(torch.randn(2, 4))
