# meta-pytorch/torchrec#4338: an evaluation step reads two numbers on the host, at two lines.
import torch


class Metrics(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def forward(self, x, labels):
        logits = self.layer(x)
        accuracy = (logits.argmax(-1) == labels).float().mean().item()  # here: accuracy
        loss = torch.nn.functional.cross_entropy(logits, labels)
        history = loss.detach().cpu().numpy().tolist()  # here: history
        return loss, accuracy, history


metrics = torch.compile(Metrics(), backend="eager")
for _ in range(3):
    metrics(torch.randn(8, 4), torch.randint(0, 3, (8,)))
