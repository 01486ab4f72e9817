"""Modules: parameters, buffers, submodules, their order, training, hooks, and attributes of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

from corpus.guards.program import Change, Program, Value, attribute


class Block(nn.Module):
    def __init__(self, width: int = 2) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.register_buffer("shift", torch.ones(width))
        self.scale = 2
        self.table = {"a": 1, "b": 2}
        self.act = torch.sin

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for value in self.table.values():
            x = x + value
        x = self.act(self.layers(x) + self.shift) * self.scale
        return x * 2 if self.training else x


class Listed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.named = nn.ModuleDict({"first": nn.Linear(2, 2), "second": nn.ReLU()})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self.parts:
            x = part(x)
        for name, part in self.named.items():
            x = part(x) * len(name)
        return x + sum(parameter.sum() for parameter in self.parameters())


def through(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return module(x)


def x() -> torch.Tensor:
    return torch.ones(2, 2)


def block(change: Value = None) -> tuple[nn.Module, torch.Tensor]:
    """Return a fresh module, changed, and its input."""
    block_module = Block()
    if change is not None:
        change(block_module)
    return block_module, x()


def changed(what: str, change: Value) -> Change:
    return Change(what, lambda: block(change))


@contextlib.contextmanager
def hook(module: nn.Module) -> Iterator[None]:
    handle = module.register_forward_hook(lambda module, given, result: result)
    try:
        yield
    finally:
        handle.remove()


@contextlib.contextmanager
def global_hook() -> Iterator[None]:
    handle = nn.modules.module.register_module_forward_hook(lambda module, given, result: result)
    try:
        yield
    finally:
        handle.remove()


def _set(path: str, value: Value) -> Value:
    owner, _, name = path.rpartition(".")
    return lambda module: setattr(module.get_submodule(owner), name, value)


BLOCK, KEPT, LISTED = Block(), Block(), Listed()
LINEAR = nn.Linear(2, 2)

@contextlib.contextmanager
def frozen(module: nn.Module) -> Iterator[None]:
    """Freeze the weight of a module, and put it into the module's dict again.

    Torch may skip the guards on the tensors of a dict that has not changed since it looked last.
    """
    weight = module.weight
    module._parameters["weight"] = None
    module._parameters["weight"] = weight
    with attribute(weight, "requires_grad", False):
        yield


PROGRAMS = (
    Program(
        "module",
        through,
        block,
        (
            changed("evaluation", lambda m: m.eval()),
            changed("one submodule in evaluation", lambda m: m.layers[0].eval()),
            changed("float64", lambda m: m.double()),
            changed("frozen", lambda m: m.requires_grad_(False)),
            changed("one weight frozen", lambda m: m.layers[2].weight.requires_grad_(False)),
            changed("no bias", _set("layers.0.bias", None)),
            changed("another activation module", _set("layers.1", nn.GELU())),
            changed("one more layer", lambda m: m.layers.append(nn.ReLU())),
            changed("wider layer", _set("layers.2", nn.Linear(2, 3))),
            changed("other scale", _set("scale", 3)),
            changed("float scale", _set("scale", 2.0)),
            changed("other table", _set("table", {"a": 1, "b": 3})),
            changed("longer table", _set("table", {"a": 1, "b": 2, "c": 3})),
            changed("other function", _set("act", torch.cos)),
            changed("own forward", _set("forward", lambda x: x)),
            changed("own forward inside", lambda m: m.layers[0].__dict__.__setitem__("forward", lambda x: x)),
            changed("buffer dtype", _set("shift", torch.ones(2).double())),
            changed("forward hook", lambda m: m.register_forward_hook(lambda *a: None)),
            changed("pre hook inside", lambda m: m.layers[0].register_forward_pre_hook(lambda *a: None)),
            changed("deleted attribute", lambda m: delattr(m, "act")),
            changed("deleted parameter", lambda m: delattr(m.layers[0], "weight")),
            changed("unused attribute", _set("unused", 1)),
            Change("another class", lambda: (LINEAR, x())),
            Change("function", lambda: (torch.sin, x())),
            Change("float64 input", lambda: (Block(), x().double())),
            Change("shared weight", lambda: block(lambda m: setattr(m.layers[2], "weight", m.layers[0].weight))),
        ),
    ),
    Program(
        "module_forward",
        KEPT.forward,
        lambda: (x(),),
        (
            Change("scale", lambda: (x(),), lambda: attribute(KEPT, "scale", 3)),
            Change("training", lambda: (x(),), lambda: attribute(KEPT, "training", False)),
            Change("weight frozen", lambda: (x(),), lambda: frozen(KEPT.layers[0])),
            Change(
                "weight set",
                lambda: (x(),),
                lambda: attribute(KEPT.layers[0], "weight", nn.Parameter(torch.ones(2, 2))),
            ),
            Change("hook", lambda: (x(),), lambda: hook(KEPT)),
            Change("hook inside", lambda: (x(),), lambda: hook(KEPT.layers[0])),
            Change("class attribute", lambda: (x(),), lambda: attribute(Block, "forward", Listed.forward)),
            Change("back", lambda: (x(),)),
        ),
        keeps=True,
    ),
    Program(
        "module_global_hook",
        KEPT.forward,
        lambda: (x(),),
        (
            Change("global hook", lambda: (x(),), global_hook),
            Change("back", lambda: (x(),)),
        ),
    ),
    Program(
        "module_lists",
        through,
        lambda: (Listed(), x()),
        (
            Change("evaluation", lambda: (Listed().eval(), x())),
            Change("longer list", lambda: (_listed(lambda m: m.parts.append(nn.ReLU())), x())),
            Change("other order", lambda: (_listed(_reorder), x())),
            Change("renamed", lambda: (_listed(_rename), x())),
            Change("tied weights", lambda: (_listed(lambda m: setattr(m.parts[1], "weight", m.parts[0].weight)), x())),
        ),
    ),
    Program(
        "builtin_module",
        through,
        lambda: (nn.Linear(2, 2), x()),
        (
            Change("no bias", lambda: (nn.Linear(2, 2, bias=False), x())),
            Change("wider", lambda: (nn.Linear(2, 4), x())),
            Change("float64", lambda: (nn.Linear(2, 2).double(), x())),
            Change("evaluation", lambda: (nn.Linear(2, 2).eval(), x())),
            Change("another", lambda: (nn.Bilinear(2, 2, 2), x())),
        ),
    ),
)


def _listed(change: Value) -> Listed:
    module = Listed()
    change(module)
    return module


def _reorder(module: Listed) -> None:
    first = module.named.pop("first")
    module.named["first"] = first


def _rename(module: Listed) -> None:
    module.named["third"] = module.named.pop("second")
