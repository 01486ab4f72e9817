# pytorch/pytorch#177895: one compiled method, many objects, each with its own scale and name.
import torch


class Scorer:
    def __init__(self, name, scale):
        self.name, self.scale = name, scale

    @torch.compile(backend="eager")
    def score(self, x):
        if self.name.startswith("pair"):  # here: name
            return (x * self.scale).sum(-1)
        return x.mean(-1)


scorers = [Scorer(f"{kind}_{number}", float(number)) for number in range(1, 4) for kind in ("pair", "mean")]
for scorer in scorers * 2:
    scorer.score(torch.randn(2, 4))
