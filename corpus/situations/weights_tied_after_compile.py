# huggingface/transformers#40551, pytorch/pytorch#140765: new tokens are added to a compiled language model, so its
# embedding grows.
import torch
import torch.nn.functional as F


class LanguageModel(torch.nn.Module):
    def __init__(self, vocabulary, width=8):
        super().__init__()
        self.embed = torch.nn.Embedding(vocabulary, width)
        self.mix = torch.nn.Linear(width, width)
        self.head = torch.nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        return self.head(self.mix(self.embed(tokens)).tanh())  # here: head

    def resize(self, vocabulary):
        old = self.embed.weight.data
        new = torch.nn.Parameter(torch.cat([old, torch.zeros(vocabulary - len(old), old.shape[1])]))
        self.embed.weight = new
        self.head.weight = new


model = LanguageModel(20)
compiled = torch.compile(model, backend="aot_eager")
for vocabulary in (20, 24, 28):
    if vocabulary > 20:
        model.resize(vocabulary)
    for _ in range(2):
        tokens = torch.randint(vocabulary, (2, 6))
        F.cross_entropy(compiled(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()).backward()
