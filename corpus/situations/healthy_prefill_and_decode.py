# Generation with a cache of fixed size: the prompt first, then one token after the other. meta-pytorch/torchtune#1425.
import torch

cache = torch.zeros(1, 32, 8)


@torch.compile(backend="eager")
def forward(x, position):
    cache.index_copy_(1, position, x)
    mask = torch.arange(32) <= position.unsqueeze(1)
    scores = (x @ cache.transpose(1, 2)).masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ cache


with torch.inference_mode():
    for prompt in (5, 7):
        forward(torch.randn(1, prompt, 8), torch.arange(prompt))
        for place in range(prompt, prompt + 4):
            forward(torch.randn(1, 1, 8), torch.tensor([place]))
