# huggingface/sentence-transformers#3011: a compiled encoder takes texts and looks the words up in its vocabulary.
import torch


class TextEncoder(torch.nn.Module):
    def __init__(self, words, width=8):
        super().__init__()
        self.vocabulary = {word: number for number, word in enumerate(words, 1)}
        self.embed = torch.nn.Embedding(len(words) + 1, width, padding_idx=0)
        self.project = torch.nn.Linear(width, 4)

    def tokenize(self, texts):
        rows = [[self.vocabulary.get(word, 0) for word in text.split()][:4] for text in texts]  # here: texts
        return torch.tensor([row + [0] * (4 - len(row)) for row in rows])

    def forward(self, texts):
        return self.project(self.embed(self.tokenize(texts)).mean(1))


words = "the cat dog sat ran on under mat tree fast".split()
encoder = torch.compile(TextEncoder(words), backend="eager")
with torch.no_grad():
    for subject in ("cat", "dog"):
        for verb in ("sat", "ran"):
            for place in ("mat", "tree", "dog"):
                encoder([f"the {subject} {verb}", f"on the {place}"])
