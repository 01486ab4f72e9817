# pytorch/vision detection losses, pytorch/pytorch#139474: images have several boxes, some one and some none.
import torch


@torch.compile(backend="eager")
def loss_of(predictions, targets):
    losses = []
    for prediction, target in zip(predictions, targets):
        distance = torch.cdist(prediction, target["boxes"])  # here: boxes
        losses.append((distance * target["weights"]).sum())
    return torch.stack(losses).sum()


for counts in ((3, 5), (4, 2), (1, 6), (0, 3), (7, 7)):
    targets = [{"boxes": torch.rand(count, 4), "weights": torch.ones(count)} for count in counts]
    loss_of(torch.rand(2, 10, 4), targets)
