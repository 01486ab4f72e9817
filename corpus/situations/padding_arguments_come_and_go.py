# xdit-project/xDiT#781: three keyword arguments are set when a sequence needs padding, and removed when it does not.
import torch


class Attention(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = torch.nn.Linear(dim, 3 * dim)

    def forward(self, x, **kwargs):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(-1, -2)
        if "valid" in kwargs:  # here: valid
            scores = scores.masked_fill(~kwargs["valid"], float("-inf"))
            scores = scores * kwargs["scale"]
        return scores.softmax(-1) @ v


class Denoiser(torch.nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.attention = Attention(dim)
        self.time = torch.nn.Linear(1, dim)
        self.attention_kwargs = {}

    def forward(self, x, timestep):
        return self.attention(x + self.time(timestep)[:, None], **self.attention_kwargs)


model = Denoiser()
compiled = torch.compile(model, backend="aot_eager")
with torch.no_grad():
    for length, requests in ((6, 2), (5, 2), (6, 2), (5, 2), (6, 1), (6, 2)):
        if length < 6:
            valid = torch.arange(6) < length
            model.attention_kwargs.update(valid=valid, scale=torch.tensor(0.5))
        else:
            for name in ("valid", "scale"):
                model.attention_kwargs.pop(name, None)
        compiled(torch.randn(2, 6, 8), torch.rand(requests, 1))
