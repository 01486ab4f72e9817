# pytorch/pytorch#138226: the mode of a policy is a member of an Enum, and the number of candidates is an int.
import enum

import torch


class Mode(enum.Enum):
    TRAIN = 1
    SAMPLE = 2
    SCORE = 3


@torch.compile(backend="eager")
def policy(logits, mode, candidates):
    if mode is Mode.TRAIN:
        return logits.log_softmax(-1)
    if mode is Mode.SAMPLE:
        return logits.topk(candidates).indices
    return logits.max(-1).values


for mode, candidates in ((Mode.TRAIN, 4), (Mode.SAMPLE, 4), (Mode.SCORE, 4), (Mode.SAMPLE, 6), (Mode.SAMPLE, 7)):
    policy(torch.randn(2, 16), mode, candidates)
