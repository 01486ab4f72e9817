"""huggingface/diffusers: the denoising network of a pipeline is compiled, and image sizes and steps differ."""

# ruff: noqa: E402

import torch

operators = torch.library.Library("torchvision", "DEF")  # its CPU build lacks both
operators.define("nms(Tensor dets, Tensor scores, float t) -> Tensor")
operators.define("qnms(Tensor dets, Tensor scores, float t) -> Tensor")
from diffusers import DDIMScheduler, UNet2DConditionModel

torch.manual_seed(0)
unet = UNet2DConditionModel(
    sample_size=8, in_channels=4, out_channels=4, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4,
    down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    cross_attention_dim=16, attention_head_dim=4,
).eval()
compiled = torch.compile(unet, backend="eager")
scheduler = DDIMScheduler(num_train_timesteps=100)


@torch.no_grad()
def generate(size, steps, guidance):
    scheduler.set_timesteps(steps)
    latents = torch.randn(1, 4, size, size)
    text = torch.randn(2 if guidance > 1 else 1, 5, 16)
    for time in scheduler.timesteps:
        model_input = torch.cat([latents] * len(text))
        noise = compiled(model_input, time, encoder_hidden_states=text).sample
        if guidance > 1:
            empty, given = noise.chunk(2)
            noise = empty + guidance * (given - empty)
        latents = scheduler.step(noise, time, latents).prev_sample


generate(8, 2, 7.5)
generate(8, 3, 1.0)
generate(16, 2, 7.5)
