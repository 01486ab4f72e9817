# gone: break-data-dependent-branch break-item
import torch
import torch.nn.functional as F
from torch import nn


class Clip(nn.Module):
    def __init__(self, dim=16, out=8):
        super().__init__()
        self.image = nn.Linear(dim, out)
        self.text = nn.Linear(dim, out)
        self.logit_scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, image, text):
        i = F.normalize(self.image(image), dim=-1)
        t = F.normalize(self.text(text), dim=-1)
        if self.logit_scale > 4.6052:
            self.logit_scale.data = torch.clamp(self.logit_scale.data, max=4.6052)
        scale = self.logit_scale.exp()
        logits = scale * i @ t.t()
        labels = torch.arange(len(logits))
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
        return {"loss": loss, "scale": float(scale)}


def make():
    return Clip()


def inputs(generator):
    return torch.randn(6, 16, generator=generator), torch.randn(6, 16, generator=generator)


def train(steps=6):
    torch.manual_seed(0)
    model = Clip()
    compiled = torch.compile(model, backend="aot_eager")
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    g = torch.Generator().manual_seed(0)
    for step in range(steps):
        out = compiled(*inputs(g))
        opt.zero_grad()
        out["loss"].backward()
        opt.step()
    print(f"loss {out['loss'].item():.4f} scale {out['scale']:.3f}")


if __name__ == "__main__":
    train()
