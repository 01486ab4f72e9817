# huggingface/transformers#29114: beams double the batch, sequences grow by concatenation, and the beam width changes.
import torch

embedding, head = torch.nn.Embedding(16, 8), torch.nn.Linear(8, 16)


@torch.compile(backend="eager")
def scores(ids, width):
    logits = head(embedding(ids).mean(1))
    return logits.topk(width).indices  # here: width


with torch.no_grad():
    for width in (2, 3, 4):
        ids = torch.randint(0, 16, (4, 3))
        for _ in range(4):
            best = scores(ids, width)
            ids = torch.cat((ids, best[:, :1]), 1)
