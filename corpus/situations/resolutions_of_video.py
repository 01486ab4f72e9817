# huggingface/diffusers#11360: a transformer for video gets other numbers of frames, heights and widths, and a list of
# strings.
import torch
import torch.nn.functional as F


class PatchEmbed(torch.nn.Module):
    def __init__(self, patch=2, width=8):
        super().__init__()
        self.patch = patch
        self.project = torch.nn.Conv3d(3, width, (1, patch, patch), (1, patch, patch))

    def forward(self, video):
        return self.project(video).flatten(2).transpose(1, 2)


class VideoTransformer(torch.nn.Module):
    def __init__(self, width=8, resolution="low"):
        super().__init__()
        self.embed = PatchEmbed(width=width)
        self.resolution = resolution
        self.mix = torch.nn.Linear(width, width)

    def forward(self, video, guidance=None):
        tokens = self.embed(video)
        scale = 0.5 if self.resolution == "low" else 1.0  # here: resolution
        tokens = F.scaled_dot_product_attention(tokens, tokens, self.mix(tokens) * scale)
        if guidance is not None:  # here: guidance
            tokens = tokens * guidance
        return tokens


model = VideoTransformer().eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    compiled(torch.randn(1, 3, 4, 8, 8))
    compiled(torch.randn(1, 3, 6, 8, 8))
    compiled(torch.randn(1, 3, 6, 8, 8), guidance=torch.tensor(3.0))
    model.resolution = "high"
    compiled(torch.randn(1, 3, 6, 16, 8), guidance=torch.tensor(3.0))
