# xdit-project/xDiT#781: a dict of keyword arguments has another key order, and a nested dict another value.
import torch


@torch.compile(backend="eager")
def render(x, **options):
    camera = options["camera"]
    return x * options["gain"] + camera["focal"]


for number in range(4):
    options = {"gain": torch.ones(1), "camera": {"focal": torch.ones(1), "name": f"view{number % 2}"}}
    if number % 2:
        options = dict(reversed(options.items()))
    render(torch.randn(3), **options)
