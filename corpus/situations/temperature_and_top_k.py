# WhisperSpeech/WhisperSpeech#44: a sampler is called with other temperatures and other numbers of candidates.
import torch


@torch.compile(backend="eager")
def candidates(logits, temperature, top_k):
    return torch.topk(logits / temperature, top_k).values


for temperature, top_k in ((0.7, 10), (0.8, 10), (0.8, 20), (0.9, 30), (1.1, 40)):
    candidates(torch.randn(2, 64), temperature, top_k)
