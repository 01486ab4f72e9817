# A server warms up one bucket of lengths after another, marked as dynamic in the batch, and then serves any request.
import torch


class Ranker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(30, 8)
        self.score = torch.nn.Linear(8, 1)

    def forward(self, tokens, mask):
        hidden = self.embed(tokens) * mask[..., None]
        return self.score(hidden.sum(1) / mask.sum(1, keepdim=True))


model = torch.compile(Ranker().eval(), backend="aot_eager", fullgraph=True)


def serve(lengths, longest):
    tokens = torch.randint(30, (len(lengths), longest))
    mask = (torch.arange(longest) < torch.tensor(lengths)[:, None]).float()
    torch._dynamo.mark_dynamic(tokens, 0)
    torch._dynamo.mark_dynamic(mask, 0)
    return model(tokens, mask)


with torch.inference_mode():
    for longest in (8, 16):
        serve([longest, longest - 1], longest)
    for lengths, longest in (([3, 4, 5], 8), ([9, 12], 16), ([16] * 5, 16), ([7] * 6, 8)):
        serve(lengths, longest)
