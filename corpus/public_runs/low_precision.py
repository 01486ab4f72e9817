"""pytorch/ao: weights are quantized to eight bits after the float model was compiled and called."""

import torch
from torch import nn
from torchao.quantization import Int8WeightOnlyConfig, quantize_

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 8)).eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    compiled(torch.randn(4, 32))
    quantize_(model, Int8WeightOnlyConfig())
    compiled(torch.randn(4, 32))
    compiled(torch.randn(9, 32))
