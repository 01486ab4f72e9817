# huggingface/transformers#40328: flags ask for more outputs, three of them, each in some calls.
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))

    def forward(self, x, output_hidden=False, output_norms=False, return_dict=True):
        hidden, norms = [], []
        for layer in self.layers:
            x = layer(x).relu()
            if output_hidden:  # here: hidden
                hidden.append(x)
            if output_norms:
                norms.append(x.norm())
        return {"x": x, "hidden": hidden, "norms": norms} if return_dict else (x, hidden, norms)


model = torch.compile(Model(), backend="eager")
with torch.no_grad():
    for hidden, norms, is_dict in ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 0, 0), (1, 1, 0)):
        model(torch.randn(2, 4), bool(hidden), bool(norms), bool(is_dict))
