# Policy gradients on texts: completions of growing length without gradients, then an update on the whole texts.
import torch


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = torch.nn.Embedding(20, 8), torch.nn.Linear(8, 20)

    def forward(self, tokens):
        return self.head(self.embed(tokens).cumsum(1))


policy = Policy()
run = torch.compile(policy, backend="aot_eager")
optimizer = torch.optim.AdamW(policy.parameters())
for prompt in (3, 5, 4):
    tokens = torch.randint(0, 20, (6, prompt))
    with torch.no_grad():
        for _ in range(4):
            tokens = torch.cat([tokens, run(tokens)[:, -1].argmax(-1, keepdim=True)], 1)
    optimizer.zero_grad()
    run(tokens).log_softmax(-1).gather(2, tokens.unsqueeze(-1)).mean().neg().backward()
    optimizer.step()
