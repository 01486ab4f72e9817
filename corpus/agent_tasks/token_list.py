import torch

embedding = torch.nn.Embedding(50, 16)
head = torch.nn.Linear(16, 50)


@torch.compile
def next_scores(history):
    tokens = torch.stack(history[-3:])
    return head(embedding(tokens).mean(0))


torch.manual_seed(5)
embedding.reset_parameters()
head.reset_parameters()
history = [torch.tensor(1), torch.tensor(2), torch.tensor(3)]
with torch.no_grad():
    for _ in range(14):
        history.append(next_scores(history).argmax())
print("result", [int(token) for token in history])
