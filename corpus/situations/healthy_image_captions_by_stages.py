# huggingface/diffusers style pipeline: text encoder, denoiser with guidance, and decoder are compiled apart.
import torch
import torch.nn.functional as F
from torch import nn


class TextEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, ids):
        return self.layer(self.embed(ids)).mean(1)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(4, 8, 3, padding=1), nn.Conv2d(8, 4, 3, padding=1)
        self.condition, self.time = nn.Linear(8, 8), nn.Linear(1, 8)

    def forward(self, latents, t, encoded):
        shift = (self.condition(encoded) + self.time(t[:, None]))[:, :, None, None]
        return self.last(F.silu(self.first(latents) + shift))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(4, 3, 4, stride=2, padding=1)

    def forward(self, latents):
        return self.up(latents / 0.18215).clamp(-1, 1)


class Pipeline:
    def __init__(self, steps=5, guidance=4.0):
        self.text, self.denoiser, self.decoder = TextEncoder().eval(), Denoiser().eval(), Decoder().eval()
        self.steps, self.guidance = steps, guidance

    def compile(self):
        for part in (self.text, self.denoiser, self.decoder):
            part.compile(backend="aot_eager", fullgraph=True)

    @torch.no_grad()
    def __call__(self, ids, generator):
        encoded = self.text(torch.cat([torch.zeros_like(ids), ids]))
        latents = torch.randn(ids.shape[0], 4, 8, 8, generator=generator)
        for t in torch.linspace(1, 0, self.steps + 1)[:-1]:
            both = torch.cat([latents, latents])
            without, given = self.denoiser(both, t.expand(both.shape[0]), encoded).chunk(2)
            latents = latents - (without + self.guidance * (given - without)) / self.steps
        return self.decoder(latents)


torch.manual_seed(0)
pipeline = Pipeline()
pipeline.compile()
for batch in (2, 2, 4):
    images = pipeline(torch.randint(1, 30, (batch, 6)), torch.Generator().manual_seed(batch))
    print(images.shape)
