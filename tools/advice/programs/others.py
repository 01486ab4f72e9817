"""Compiles that failed, functions that were left as they are, and the limit of entries."""

from __future__ import annotations

from typing import Any

import torch

from tools.advice.pair import follows, shows


def by_length(x: Any, word: Any) -> Any:
    return x * len(word)  # here


WORDS = ["a" * (count * count + 2) for count in range(12)]


@shows("recompile-limit")
def limit() -> list[Any]:
    compiled = torch.compile(by_length, backend="eager")
    return [compiled(torch.ones(4), word) for word in WORDS]


@follows("recompile-limit")
def within_the_limit() -> list[Any]:
    compiled = torch.compile(lambda x, length: x * length, backend="eager")
    return [compiled(torch.ones(4), torch.tensor(len(word))) for word in WORDS]


def refuses(graph: Any, inputs: Any) -> Any:
    raise ValueError("no such kernel")


@shows("failure")
def backend_fails() -> list[Any]:
    def run(x: Any) -> Any:  # here
        return x * 2

    try:
        torch.compile(run, backend=refuses)(torch.ones(4))
    except Exception as error:  # noqa: BLE001  each release wraps it in another one
        return [str(error).partition(":")[0]]
    return []


@shows("symbolic-shape")
def crosses_a_size() -> list[Any]:
    def run(x: Any) -> Any:
        return x * 2 if x.shape[0] > 8 else x * 3  # here

    compiled = torch.compile(run, backend="eager", dynamic=True)
    return [compiled(torch.ones(4)), compiled(torch.ones(12))]
