# Learning from feedback: a policy, its frozen copy and a reward model of one class. pytorch/pytorch#141589.
import copy

import torch


class Head(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = torch.nn.Linear(6, 8)
        self.head = torch.nn.Linear(8, width)

    def forward(self, x):
        return self.head(self.body(x).tanh())


policy, reward = Head(4), Head(2)
reference = copy.deepcopy(policy).requires_grad_(False).eval()
act, score, compare = (torch.compile(function, backend="aot_eager") for function in (policy, reward, reference))
optimizer = torch.optim.AdamW(policy.parameters())
for _ in range(3):
    x = torch.randn(8, 6)
    with torch.no_grad():
        kept, points = compare(x).log_softmax(-1), score(x).mean(-1)
    optimizer.zero_grad()
    logits = act(x).log_softmax(-1)
    (-(logits.max(-1).values * points).mean() + (logits - kept).square().mean()).backward()
    optimizer.step()
