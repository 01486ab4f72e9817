# meta-pytorch/torchtune#1425: a policy samples or scores, in two precisions, and training ends with evaluation.
import torch


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 3)
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, x, task):
        y = self.dropout(self.net(x.float()))
        return y.log_softmax(-1) if task == "score" else y.argmax(-1)  # here: task


policy = Policy()
run = torch.compile(policy, backend="eager")
run(torch.randn(4, 4), "score")
run(torch.randn(4, 4), "sample")
run(torch.randn(4, 4, dtype=torch.bfloat16), "sample")
policy.eval()
with torch.no_grad():
    run(torch.randn(4, 4), "score")
