# gone: break-data-dependent-branch break-logging
import logging
from dataclasses import dataclass

import torch
from torch import nn

logger = logging.getLogger(__name__)


@dataclass
class EncoderConfig:
    vocab_size: int = 100
    hidden_size: int = 16
    num_layers: int = 2
    dropout: float = 0.0


@dataclass
class EncoderOutput:
    last_hidden_state: torch.Tensor
    pooled: torch.Tensor | None = None


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(
            [nn.Linear(config.hidden_size, config.hidden_size) for _ in range(config.num_layers)]
        )

    def forward(self, input_ids, attention_mask=None):
        if attention_mask is not None and (attention_mask == 0).any():
            logger.warning("padding found: the masked path is used")
        hidden = self.embed(input_ids)
        for layer in self.layers:
            hidden = torch.relu(layer(hidden))
        if attention_mask is not None:
            hidden = hidden * attention_mask.unsqueeze(-1)
        pooled = hidden.sum(1) / attention_mask.sum(1, keepdim=True)
        return EncoderOutput(last_hidden_state=hidden, pooled=pooled)


def make():
    model = Encoder(EncoderConfig())

    def run(input_ids, attention_mask):
        output = model(input_ids, attention_mask)
        return output.last_hidden_state, output.pooled

    return run


def inputs(generator):
    ids = torch.randint(0, 100, (4, 7), generator=generator)
    mask = torch.ones(4, 7)
    mask[0, 5:] = 0
    return ids, mask


def main():
    torch.manual_seed(0)
    model = torch.compile(Encoder(EncoderConfig()), backend="aot_eager")
    generator = torch.Generator().manual_seed(1)
    for step in range(6):
        ids, mask = inputs(generator)
        out = model(ids, attention_mask=mask)
        print(step, out.pooled.shape)


if __name__ == "__main__":
    main()
