"""Guards that few programs have: transforms, dual levels, dispatch keys, pytrees, memory that overlaps, streams."""

from __future__ import annotations

import sys

import torch
import torch.utils._pytree as pytree

from corpus.guards.program import Change, Program, Value, item
from corpus.guards.programs.ambience import STATES, plain

HERE: dict[str, Value] = globals()
RELATIONAL: dict[str, Value] = {"use_lamba_guard_for_object_aliasing": False}


def x() -> torch.Tensor:
    return torch.ones(3)


def mapped(x: torch.Tensor) -> torch.Tensor:
    return torch.func.vmap(torch.sin)(x)


def differentiated(x: torch.Tensor) -> torch.Tensor:
    return torch.func.grad(lambda v: torch.sin(v).sum())(x)


def forward_differentiated(x: torch.Tensor) -> Value:
    return torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))


def over_tree(x: torch.Tensor, tree: Value) -> Value:
    return pytree.tree_map(lambda leaf: leaf + x, tree)


def same(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * 2 if x is y else x + y


def writes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.mul_(2)
    return x + y


def loaded(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if "not.a.module" in sys.modules else x * 2


def hashed(x: torch.Tensor, table: Value) -> torch.Tensor:
    return x + sum(table.values())


def shared(apart: bool = False, second: int = 2) -> tuple[torch.Tensor, torch.Tensor]:
    memory = torch.ones(8)
    return memory[0:4], memory[4:8] if apart else memory[second : second + 4]


class Key:
    """A key that is compared by identity."""


KEY = Key()

PROGRAMS = (
    Program(
        "vmap",
        mapped,
        lambda: (x(),),
        (*plain("a transform", "no gradients", "as it was"), Change("other size", lambda: (torch.ones(4),))),
    ),
    Program(
        "grad", differentiated, lambda: (x(),), plain("a transform", "no gradients", "forward gradients", "as it was")
    ),
    Program("jvp", forward_differentiated, lambda: (x(),), plain("forward gradients", "no gradients", "as it was")),
    Program(
        "pytree",
        over_tree,
        lambda: (x(), {"a": x(), "b": [x()]}),
        (
            Change("other structure", lambda: (x(), {"a": x()})),
            Change("list", lambda: (x(), [x()])),
            Change("another node type", None, lambda: item(pytree.SUPPORTED_NODES, Key, None)),
        ),
    ),
    Program(
        "relational_same",
        same,
        lambda: (lambda t: (t, t))(x()),
        (
            Change("different", lambda: (x(), x())),
            Change("same again", lambda: (lambda t: (t, t))(x())),
        ),
        config=RELATIONAL,
    ),
    Program(
        "aot_same",
        writes,
        lambda: (lambda t: (t, t))(x()),
        (
            Change("different", lambda: (x(), x())),
            Change("same again", lambda: (lambda t: (t, t))(x())),
        ),
        {"backend": "aot_eager"},
    ),
    Program(
        "aot_overlapping",
        writes,
        shared,
        (
            Change("apart", lambda: shared(apart=True)),
            Change("closer", lambda: shared(second=1)),
            Change("own memory", lambda: (torch.ones(4), torch.ones(4))),
            Change("same", lambda: (lambda t: (t, t))(torch.ones(4))),
        ),
        {"backend": "aot_eager", "dynamic": True},
    ),
    Program(
        "sys_modules",
        loaded,
        lambda: (x(),),
        (
            Change("loaded", None, lambda: item(sys.modules, "not.a.module", sys)),
            Change("another one loaded", None, lambda: item(sys.modules, "another", sys)),
        ),
    ),
    Program(
        "identity_key",
        hashed,
        lambda: (x(), {KEY: 1, "a": 2}),
        (
            Change("another key", lambda: (x(), {Key(): 1, "a": 2})),
            Change("other order", lambda: (x(), {"a": 2, KEY: 1})),
            Change("other value", lambda: (x(), {KEY: 3, "a": 2})),
        ),
    ),
    Program("under_two_modes", mapped, lambda: (x(),), plain("as it was"), around=STATES["no gradients"]),
)
