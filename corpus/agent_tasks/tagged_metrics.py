import torch

head = torch.nn.Linear(12, 30)
metrics = {}


@torch.compile
def evaluate(hidden, tag):
    scores = torch.softmax(head(hidden), -1)
    metrics[tag] = scores.max()
    return scores


torch.manual_seed(11)
head.reset_parameters()
with torch.no_grad():
    for step in range(10):
        evaluate(torch.randn(2, 12), f"step {step}")
print("result", round(float(sum(metrics.values())), 4), len(metrics))
