# Lightning-AI/pytorch-lightning#17933: epoch and number of the batch are arguments of the training step.
import torch

layer = torch.nn.Linear(4, 1)


@torch.compile(backend="eager")
def training_step(batch, batch_index, epoch):
    loss = layer(batch).pow(2).mean()
    if batch_index % 2 == 0 and epoch > 0:  # here: branch
        loss = loss + 0.01 * layer.weight.norm()
    return loss


for epoch in range(3):
    for batch_index in range(4):
        training_step(torch.randn(4, 4), batch_index, epoch).backward()
