# pytorch/pytorch#149970: `generate` copies its configuration on each call, then reads the temperature of the copy.
import copy

import torch


class GenerationConfig:
    def __init__(self, temperature, stop):
        self.temperature = temperature
        self.stop = stop


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(20, 8)
        self.head = torch.nn.Linear(8, 20)

    def forward(self, tokens, config):
        config = copy.deepcopy(config)  # here: copy
        logits = self.head(self.embedding(tokens).mean(1)) / config.temperature
        if logits.argmax(-1).eq(config.stop).all():  # here: stop
            return tokens
        return torch.cat((tokens[:, 1:], logits.argmax(-1, keepdim=True)), 1)


torch.manual_seed(0)
decoder = torch.compile(Decoder(), backend="eager")
tokens = torch.randint(20, (2, 6))
with torch.no_grad():
    for temperature in (1.0, 0.9, 0.8, 0.7):
        tokens = decoder(tokens, GenerationConfig(temperature, 19))
