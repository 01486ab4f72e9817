# huggingface/diffusers#11360: classifier-free guidance doubles the batch in the first steps, then it is off.
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.SiLU(), torch.nn.Linear(16, 4)).eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    for _ in range(2):
        x = torch.randn(2, 4)
        for step in range(6):
            if step < 3:
                noise, guided = compiled(torch.cat((x, x))).chunk(2)
                x = x - 0.1 * (noise + 3.0 * (guided - noise))
            else:
                x = x - 0.1 * compiled(x)
