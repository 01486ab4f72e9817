# gone: break-item tensor-size
import torch
from torch import nn


class BagOfWords(nn.Module):
    def __init__(self, vocab=50, dim=8, classes=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.head = nn.Linear(dim, classes)

    def forward(self, batch):
        ids, lengths = batch["input_ids"], batch["lengths"]
        max_len = lengths.max().item()
        ids = ids[:, :max_len]
        mask = torch.arange(max_len)[None, :] < lengths[:, None]
        hidden = self.embed(ids) * mask.unsqueeze(-1)
        return self.head(hidden.sum(1) / lengths.unsqueeze(-1))


def make():
    return BagOfWords()


def inputs(generator):
    lengths = torch.randint(1, 12, (4,), generator=generator)
    ids = torch.randint(1, 50, (4, 12), generator=generator)
    return ({"input_ids": ids, "lengths": lengths},)


def collate(generator, size):
    lengths = torch.randint(1, 12, (size,), generator=generator)
    ids = torch.randint(1, 50, (size, 12), generator=generator)
    return {"input_ids": ids, "lengths": lengths}


def main():
    torch.manual_seed(0)
    model = torch.compile(BagOfWords(), backend="eager")
    generator = torch.Generator().manual_seed(0)
    for size in (4, 4, 4, 4, 3):
        logits = model(collate(generator, size))
    print(logits.shape)


if __name__ == "__main__":
    main()
