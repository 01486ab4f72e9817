# huggingface/transformers#35716: the largest position decides which frequencies are used; prompts have many lengths.
import torch


class Rope(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("short", torch.ones(4))
        self.register_buffer("long", torch.full((4,), 0.5))

    def forward(self, positions):
        length = torch.max(positions) + 1
        if length > 12:  # here: branch
            frequencies = self.long
        else:
            frequencies = self.short
        return (positions[..., None] * frequencies).cos()


rope = torch.compile(Rope(), backend="eager")
for length in (5, 9, 14, 20):
    rope(torch.arange(length)[None])
