# huggingface/transformers#41123, vllm-project/vllm#23900: the router's number of experts and its scoring come from a
# config
# dict that the evaluation changes; the capacity is computed in Python.
import torch


class Router(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.gate = torch.nn.Linear(8, config["experts"], bias=False)

    def forward(self, x):
        logits = self.gate(x)
        scores = logits.sigmoid() if self.config["scoring"] == "sigmoid" else logits.softmax(-1)  # here: scoring
        weights, index = scores.topk(self.config["chosen"], dim=-1)  # here: chosen
        return weights / weights.sum(-1, keepdim=True), index


class Experts(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.router = Router(config)
        self.up = torch.nn.Parameter(torch.randn(config["experts"], 8, 8) * 0.1)

    def forward(self, x):
        weights, index = self.router(x)
        hidden = torch.einsum("td,edh->teh", x, self.up).relu()
        chosen = hidden.gather(1, index[..., None].expand(-1, -1, 8))
        return (weights[..., None] * chosen).sum(1)


config = {"experts": 4, "chosen": 2, "scoring": "softmax"}
model = Experts(config)
compiled = torch.compile(model, backend="aot_eager")
for step in range(3):
    compiled(torch.randn(6, 8)).pow(2).mean().backward()
config["chosen"] = 3
for step in range(2):
    compiled(torch.randn(6, 8)).pow(2).mean().backward()
config["scoring"] = "sigmoid"
for step in range(2):
    compiled(torch.randn(6, 8)).pow(2).mean().backward()
