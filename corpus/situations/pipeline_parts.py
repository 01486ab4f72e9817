# huggingface/diffusers#9279: text encoder, denoiser and decoder are compiled apart; prompts have two lengths.
import torch

encode = torch.compile(torch.nn.Embedding(32, 8), backend="eager")
denoiser = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.SiLU(), torch.nn.Linear(8, 8)).eval()
denoise = torch.compile(denoiser, backend="eager")
decode = torch.compile(torch.nn.Sequential(torch.nn.Linear(8, 3), torch.nn.Sigmoid()), backend="eager")
with torch.no_grad():
    for length in (6, 6, 9):
        x = encode(torch.randint(0, 32, (1, length)))
        for _ in range(3):
            x = x - 0.1 * denoise(x)
        decode(x)
