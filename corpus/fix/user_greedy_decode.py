# gone: all
# The tokens grow by one in each call, and the compiled step looks at the token to see whether to stop.
import torch
from torch import nn

EOS = 2


class TinyLM(nn.Module):
    def __init__(self, vocab=11, dim=8):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.mix = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.tok(ids)
        weights = torch.softmax(torch.arange(ids.shape[1]).float(), 0)
        return self.head((x * weights[None, :, None]).sum(1))


def next_token(model, ids, temperature):
    logits = model(ids) / temperature
    if torch.isnan(logits).any():
        raise ValueError("NaN in logits")
    token = logits.argmax(-1, keepdim=True)
    return torch.cat([ids, token], dim=1)


def make():
    model = TinyLM()
    return lambda ids, temperature: next_token(model, ids, temperature)


def inputs(generator):
    length = int(torch.randint(2, 9, (), generator=generator))
    return torch.randint(0, 11, (1, length), generator=generator), 0.7


@torch.inference_mode()
def decode(prompt, max_new_tokens=8):
    torch.manual_seed(0)
    model = TinyLM().eval()
    step = torch.compile(next_token, backend="eager")
    ids = prompt
    for _ in range(max_new_tokens):
        ids = step(model, ids, 0.7)
        if ids[0, -1].item() == EOS:
            break
    return ids


if __name__ == "__main__":
    print(decode(torch.tensor([[1, 5, 7]])).tolist())
