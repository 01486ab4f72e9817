# Comfy-Org/ComfyUI#8320, k-diffusion: a denoiser is called with sigmas as Python floats and a dict of options with
# callbacks.
import torch


class Denoiser(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(6, 6)

    def forward(self, x, sigma, options):
        scaled = x / (sigma**2 + 1) ** 0.5  # here: sigma
        for patch in options.get("patches", []):  # here: patches
            scaled = patch(scaled)
        output = self.net(scaled)
        if options.get("clip"):  # here: clip
            output = output.clamp(-1, 1)
        return x + output * sigma


def sharpen(x):
    return x * 1.1


def blur(x):
    return (x + x.roll(1, -1)) / 2


model = torch.compile(Denoiser().eval(), backend="eager")
with torch.inference_mode():
    x = torch.randn(1, 6)
    for step, sigma in enumerate((14.0, 7.0, 3.0, 1.0, 0.3)):
        options = {"patches": [sharpen] if step < 2 else [sharpen, blur], "clip": step == 4}
        x = model(x, sigma, options)
