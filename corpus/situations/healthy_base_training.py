# karpathy/nanochat#722: accumulation, weights in groups with two optimizers, and an evaluation of another batch size.
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(16, 8)
        self.mix = torch.nn.Linear(8, 8)
        self.head = torch.nn.Linear(8, 16)

    def forward(self, tokens, targets, reduction="mean"):
        logits = self.head(torch.relu(self.mix(self.embed(tokens))).square()).float()
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction=reduction)


model = Net()
compiled = torch.compile(model, backend="eager", dynamic=False)
optimizers = [
    torch.optim.SGD(model.mix.parameters(), lr=0.1, momentum=0.9),
    torch.optim.AdamW([*model.embed.parameters(), *model.head.parameters()], lr=0.01),
]
for step in range(4):
    if step % 2 == 0:
        compiled.eval()
        with torch.no_grad():
            compiled(torch.randint(0, 16, (8, 5)), torch.randint(0, 16, (8, 5)), reduction="none")
        compiled.train()
    for _ in range(2):
        (compiled(torch.randint(0, 16, (4, 5)), torch.randint(0, 16, (4, 5))) / 2).backward()
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] *= 0.9
        optimizer.step()
        optimizer.zero_grad()
