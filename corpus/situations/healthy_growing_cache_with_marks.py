# pytorch/pytorch#124054: the cache grows by concatenation, and its length is marked as dynamic.
import torch
import torch.nn.functional as F

embed, project = torch.nn.Embedding(30, 8), torch.nn.Linear(8, 24)
head = torch.nn.Linear(8, 30)


@torch.compile(backend="eager")
def decode(token, keys, values):
    q, k, v = project(embed(token)).chunk(3, -1)
    keys, values = torch.cat([keys, k], 1), torch.cat([values, v], 1)
    y = F.scaled_dot_product_attention(q, keys, values)
    return head(y[:, -1]).argmax(-1, keepdim=True), keys, values


torch.manual_seed(0)
with torch.no_grad():
    prompt = torch.randint(0, 30, (2, 5))
    _, keys, values = project(embed(prompt)).chunk(3, -1)
    keys, values = keys.contiguous(), values.contiguous()
    token = prompt[:, -1:]
    for _ in range(10):
        torch._dynamo.mark_dynamic(keys, 1)
        torch._dynamo.mark_dynamic(values, 1)
        token, keys, values = decode(token, keys, values)
