# gone: break-item object-float
from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class DPOConfig:
    beta: float = 0.1
    label_smoothing: float = 0.0
    loss_type: str = "sigmoid"


def dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, config):
    logits = (policy_chosen - policy_rejected) - (ref_chosen - ref_rejected)
    if config.loss_type == "sigmoid":
        losses = -F.logsigmoid(config.beta * logits) * (1 - config.label_smoothing)
    else:
        losses = (logits - 1 / (2 * config.beta)) ** 2
    rewards = config.beta * (policy_chosen - ref_chosen).detach()
    metrics = {"reward": rewards.mean().item(), "margin": logits.mean().item()}
    return losses.mean(), metrics


def make():
    config = DPOConfig()
    return lambda a, b, c, d: dpo_loss(a, b, c, d, config)


def inputs(generator):
    return tuple(torch.randn(6, generator=generator) for _ in range(4))


def main():
    loss_fn = torch.compile(dpo_loss, backend="eager")
    g = torch.Generator().manual_seed(0)
    for step in range(10):
        config = DPOConfig(beta=0.1 + 0.01 * step)
        loss, metrics = loss_fn(*inputs(g), config)
    print(f"{loss.item():.3f} {metrics['margin']:.3f}")


if __name__ == "__main__":
    main()
