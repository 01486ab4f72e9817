# facebookresearch/dinov2-like multi-crop training: crops of two sizes go through one backbone.
import torch

backbone = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1))
compiled = torch.compile(backbone, backend="eager")
for _ in range(3):
    crops = [torch.randn(2, 3, 32, 32) for _ in range(2)] + [torch.randn(2, 3, 16, 16) for _ in range(4)]
    torch.cat([compiled(crop) for crop in crops]).sum().backward()
