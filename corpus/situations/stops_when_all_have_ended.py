# huggingface/transformers#36231, Lightning-AI/litgpt#1910: a compiled loop generates until all sequences have ended.
import torch


class Decoder(torch.nn.Module):
    def __init__(self, vocabulary=12, width=8):
        super().__init__()
        self.embed = torch.nn.Embedding(vocabulary, width)
        self.rnn = torch.nn.GRUCell(width, width)
        self.head = torch.nn.Linear(width, vocabulary)
        self.end = 0

    def step(self, token, state):
        state = self.rnn(self.embed(token), state)
        return self.head(state), state

    @torch.compile(backend="eager")
    def generate(self, token, state, longest=6):
        tokens = [token]
        ended = torch.zeros_like(token, dtype=torch.bool)
        for _ in range(longest):
            logits, state = self.step(token, state)
            token = logits.argmax(-1).masked_fill(ended, self.end)
            ended = ended | (token == self.end)
            tokens.append(token)
            if ended.all():  # here: ended
                break
        return torch.stack(tokens, 1)


model = Decoder().eval()
with torch.inference_mode():
    for _ in range(3):
        model.generate(torch.randint(12, (2,)), torch.zeros(2, 8))
