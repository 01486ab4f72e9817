# gone: break-boolean-mask break-data-dependent-branch
import torch
import torch.nn.functional as F


def masked_lm_loss(logits, labels, ignore_index=-100, label_smoothing=0.1):
    mask = labels != ignore_index
    if not mask.any():
        return logits.sum() * 0
    logits, labels = logits[mask], labels[mask]
    loss = F.cross_entropy(logits, labels, label_smoothing=label_smoothing)
    if torch.isinf(loss):
        print("inf loss")
    return loss


def make():
    return masked_lm_loss


def inputs(generator):
    labels = torch.randint(0, 9, (6,), generator=generator)
    labels[torch.rand(6, generator=generator) < 0.4] = -100
    return torch.randn(6, 9, generator=generator), labels


if __name__ == "__main__":
    loss_fn = torch.compile(masked_lm_loss, backend="eager")
    g = torch.Generator().manual_seed(0)
    for _ in range(6):
        loss = loss_fn(*inputs(g))
    print(f"{loss.item():.3f}")
