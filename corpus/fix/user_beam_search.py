# gone: break-data-dependent-branch
import torch
from torch import nn

EOS = 1


class TinyDecoder(nn.Module):
    def __init__(self, vocab=20, dim=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, token, state):
        state = self.rnn(self.embed(token), state)
        return self.out(state).log_softmax(-1), state


def beam_step(model, tokens, scores, state, length, length_penalty=0.6):
    log_probs, state = model(tokens[:, -1], state)
    if (tokens[:, -1] == EOS).all():
        log_probs = torch.zeros_like(log_probs)
    total = scores.unsqueeze(-1) + log_probs
    norm = ((5 + length) / 6) ** length_penalty
    flat = (total / norm).view(-1)
    best, index = flat.topk(tokens.size(0))
    beam, token = index // log_probs.size(-1), index % log_probs.size(-1)
    tokens = torch.cat([tokens[beam], token.unsqueeze(-1)], dim=-1)
    return tokens, best * norm, state[beam]


def make():
    model = TinyDecoder()
    return lambda tokens, scores, state: beam_step(model, tokens, scores, state, tokens.size(1))


def inputs(generator):
    return (
        torch.randint(2, 20, (4, 3), generator=generator),
        torch.randn(4, generator=generator),
        torch.randn(4, 12, generator=generator),
    )


@torch.no_grad()
def search(max_length=12):
    torch.manual_seed(0)
    model = TinyDecoder()
    step = torch.compile(beam_step, backend="eager")
    tokens = torch.zeros(4, 1, dtype=torch.long)
    scores = torch.zeros(4)
    state = torch.zeros(4, 12)
    for length in range(1, max_length):
        tokens, scores, state = step(model, tokens, scores, state, length)
    return tokens, scores


if __name__ == "__main__":
    tokens, scores = search()
    print(tokens[0].tolist())
