"""huggingface/pytorch-image-models (train.py): mixup, EMA of weights, a validation pass, drop path that grows."""

# ruff: noqa: E402

import torch

operators = torch.library.Library("torchvision", "DEF")  # its CPU build lacks both
operators.define("nms(Tensor dets, Tensor scores, float t) -> Tensor")
operators.define("qnms(Tensor dets, Tensor scores, float t) -> Tensor")
import timm
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.utils import ModelEmaV3

torch.manual_seed(0)
model = timm.create_model(
    "vit_tiny_patch16_224", img_size=32, patch_size=8, depth=2, embed_dim=32, num_heads=2, num_classes=10,
    drop_path_rate=0.1,
)
compiled = torch.compile(model, backend="eager")
average = ModelEmaV3(model, decay=0.9)
mixup = Mixup(num_classes=10)
criterion = SoftTargetCrossEntropy()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    compiled.train()
    for size in (8, 8, 6):
        images, targets = mixup(torch.randn(size, 3, 32, 32), torch.randint(0, 10, (size,)))
        loss = criterion(compiled(images), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
    compiled.eval()
    with torch.no_grad():
        for size in (8, 5):
            compiled(torch.randn(size, 3, 32, 32))
            average(torch.randn(size, 3, 32, 32))
