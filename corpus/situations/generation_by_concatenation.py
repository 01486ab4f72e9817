# huggingface/transformers#29114 and WhisperSpeech/WhisperSpeech#44: tokens are concatenated; later calls are warmer.
import torch

table = torch.randn(16, 16)


@torch.compile(backend="eager")
def predict(tokens, temperature, sample):
    logits = table[tokens].mean(1) / temperature  # here: temperature
    return logits.softmax(-1).cumsum(-1) if sample else logits  # here: sample


tokens = torch.randint(0, 16, (1, 4))
with torch.no_grad():
    for step in range(9):
        logits = predict(tokens, 0.7 if step < 6 else 0.9, step >= 3)
        tokens = torch.cat([tokens, logits.argmax(-1, keepdim=True)], 1)
