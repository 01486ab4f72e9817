# huggingface/transformers#29114: a dict says for each layer whether its cross attention has been computed.
import torch


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))

    def forward(self, x, encoded, cache):
        for number, layer in enumerate(self.layers):
            if not cache["updated"][number]:
                cache["states"][number] = layer(encoded)
                cache["updated"][number] = True
            x = x + cache["states"][number].mean(1, keepdim=True)
        return x


decoder = torch.compile(Decoder(), backend="eager")
with torch.no_grad():
    for _ in range(2):
        cache = {"updated": [False, False], "states": [torch.zeros(1), torch.zeros(1)]}
        encoded = torch.randn(2, 5, 4)
        for _ in range(4):
            decoder(torch.randn(2, 1, 4), encoded, cache)
