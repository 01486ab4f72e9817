import torch

embedding = torch.nn.Embedding(20, 12)


@torch.compile
def pooled(tokens, lengths):
    longest = lengths.max().item()
    tokens = tokens[:, :longest]
    mask = torch.arange(longest)[None, :] < lengths[:, None]
    vectors = embedding(tokens) * mask[..., None]
    return vectors.sum(1) / lengths[:, None]


torch.manual_seed(6)
embedding.reset_parameters()
total = 0.0
for step in range(8):
    lengths = torch.randint(2, 10, (4,))
    total += float(pooled(torch.randint(0, 20, (4, 10)), lengths).sum())
print("result", round(total, 3))
