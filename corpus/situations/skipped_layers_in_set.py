# city96/ComfyUI-GGUF#243: skip-layer guidance keeps the layers to skip in a set, which a schedule replaces.
import torch


class Transformer(torch.nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(depth))
        self.skipped = set()

    def forward(self, x, scale):
        for index, layer in enumerate(self.layers):
            if index in self.skipped:  # here: skip
                continue
            x = x + torch.tanh(layer(x))
        return x * scale


torch.manual_seed(0)
model = Transformer(5).eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    for step in range(10):
        model.skipped = {step // 2} if step < 8 else set()  # here: set
        compiled(torch.randn(2, 8), 1.0 + step / 10)
