# pytorch/pytorch#192343: a mixture of experts counts tokens by `torch.bincount` and splits them by `tolist`.
import torch


class Mixture(torch.nn.Module):
    def __init__(self, width, number):
        super().__init__()
        self.number = number
        self.router = torch.nn.Linear(width, number)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(number))

    def forward(self, tokens):
        scores, choice = self.router(tokens).softmax(-1).max(-1)
        order = choice.argsort()
        counts = torch.bincount(choice, minlength=self.number)  # here: count
        parts = tokens[order].split(counts.tolist())  # here: split
        outputs = [expert(part) for expert, part in zip(self.experts, parts)]
        gathered = torch.cat(outputs) * scores[order].unsqueeze(-1)
        return torch.zeros_like(tokens).index_copy(0, order, gathered)


torch.manual_seed(0)
mixture = torch.compile(Mixture(8, 4), backend="eager")
with torch.no_grad():
    for _ in range(6):
        mixture(torch.randn(32, 8))
