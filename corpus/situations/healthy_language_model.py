# A small language model with a causal mask and tied weights.
import torch


class Language(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(32, 16)
        self.norm = torch.nn.LayerNorm(16)

    def forward(self, tokens):
        x = self.norm(self.embed(tokens)).unsqueeze(1)
        x = torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).squeeze(1)
        return x @ self.embed.weight.T


model = Language()
run = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    tokens = torch.randint(0, 32, (2, 9))
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(run(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
    optimizer.step()
