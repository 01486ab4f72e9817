# pytorch/captum#1450, frgfm/torch-cam#289: a new forward hook, a closure, is registered for each image that is
# explained.
import torch


class Extractor:
    def __init__(self, model, name):
        self.activations = {}
        self.handle = dict(model.named_modules())[name].register_forward_hook(self.save(name))

    def save(self, name):
        def hook(module, inputs, output):
            self.activations[name] = output.detach()  # here: save

        return hook

    def __enter__(self):
        return self.activations

    def __exit__(self, *error):
        self.handle.remove()


model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    compiled(torch.randn(2, 4))
    for _ in range(4):
        with Extractor(model, "0") as activations:
            scores = compiled(torch.randn(2, 4))
            print(scores.shape, list(activations))
