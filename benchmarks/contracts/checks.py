"""The checks, run by pytest: `CONTRACT_SEEDS=1` slips a regression into each, `CONTRACT_REPEAT=n` repeats them n times.

Not named `test_`: `python -m benchmarks.contracts` runs it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._inductor.async_compile import AsyncCompile

from corpus.contracts import elsewhere
from corpus.contracts.regressions import BETWEEN, INSIDE, State

BACKEND = os.environ.get("CONTRACT_BACKEND", "eager")
REPEAT = range(int(os.environ.get("CONTRACT_REPEAT", "1")))
SEEDED = os.environ.get("CONTRACT_SEEDS") == "1"
BREAKS = list(INSIDE) if SEEDED else [""]
RECOMPILES = list(BETWEEN) if SEEDED else [""]
MIXED = [*BREAKS[:5], *RECOMPILES[:5]] if SEEDED else [""]


def state() -> State:
    """Return what a model keeps beside its weights."""
    torch.manual_seed(0)
    return {
        "layer": torch.nn.Linear(4, 4),
        "kept": [torch.ones(4)],
        "step": 1,
        "scale": 0.5,
        "mode": "prefill",
        "activation": torch.relu,
    }


def model(x: torch.Tensor, kept: State, inside: Callable[[torch.Tensor, State], torch.Tensor]) -> torch.Tensor:
    """Return one step of a model: a layer, what it has kept, and whatever was slipped in."""
    x = kept["activation"](kept["layer"](x)) * kept["scale"] + kept["step"] + len(kept["kept"])
    x = inside(x, kept)
    return x + 1 if kept["mode"] == "prefill" else x - 1


def plain(x: torch.Tensor, kept: State) -> torch.Tensor:
    """Return the tensor."""
    return x


def two_steps(function: Callable[..., Any], seed: str) -> None:
    """Compile a model and call it twice, with what `seed` names inside of it or between the calls."""
    kept, inside = state(), INSIDE.get(seed, plain)
    compiled = torch.compile(function, backend=BACKEND)
    compiled(torch.ones(4, 4), kept, inside)
    x = BETWEEN[seed](torch.ones(4, 4), kept) if seed in BETWEEN else torch.ones(4, 4)
    with torch.enable_grad():
        compiled(x if x.shape[-1] == 4 else x[:, :4], kept, inside)


@pytest.mark.parametrize("seed", MIXED)
@pytest.mark.parametrize("_repeat", REPEAT)
@pytest.mark.compiles(graphs=1, breaks=0, recompiles=0)  # diffusers, pull request 11085
def test_diffusers(seed: str, _repeat: int) -> None:
    """Run a pipeline's model twice: one graph, no recompile."""
    two_steps(model, seed)


def tabular(x: torch.Tensor, kept: State, inside: Callable[[torch.Tensor, State], torch.Tensor]) -> torch.Tensor:
    """Return a step of a model that calls a package which breaks the graph."""
    return model(elsewhere.normalised(x), kept, inside)


@pytest.mark.parametrize("seed", BREAKS[:10])
@pytest.mark.parametrize("_repeat", REPEAT)
@pytest.mark.compiles(breaks=0, eager_calls=0, allow=["corpus.contracts.elsewhere"])  # TabPFN, pull request 1166
def test_tabpfn(seed: str, _repeat: int) -> None:
    """Have no graph break in one's own code; those of packages are their own."""
    two_steps(tabular, seed)


@pytest.mark.parametrize("seed", RECOMPILES)
@pytest.mark.parametrize("_repeat", REPEAT)
@pytest.mark.compiles(breaks=0, recompiles=0, eager_calls=0)  # lerobot, pull request 3610
def test_lerobot(seed: str, _repeat: int) -> None:
    """Sample in steps, each as the first."""
    two_steps(model, seed)


CACHES = ["constant", "operation", "dtype", "shape", "layout", "config", "flag", "deterministic", "input", "fourth"]


def _pieces(k: float = 2.0, more: bool = False) -> list[Callable[..., Any]]:
    pieces = [lambda x: x.sin() * k, lambda x: x.relu() + 1, lambda x: (x @ x).cos()]
    return [(lambda x: x.sin() * k + x.tanh()) if more else pieces[0], *pieces[1:]]


def _run(pieces: list[Callable[..., Any]], x: torch.Tensor) -> None:
    torch._dynamo.reset()
    for piece in pieces:
        torch.compile(piece)(x)


@contextlib.contextmanager
def _settings(seed: str) -> Iterator[None]:
    from torch._inductor import config

    changed = {"config": {"realize_reads_threshold": 7}, "flag": {"cpp.min_chunk_size": 64}}.get(seed, {})
    torch.use_deterministic_algorithms(seed == "deterministic")
    try:
        with config.patch(changed):
            yield
    finally:
        torch.use_deterministic_algorithms(False)


def _input(seed: str) -> torch.Tensor:
    x = torch.ones(5, 5) if seed == "shape" else torch.ones(4, 4)
    if seed == "layout":
        return torch.ones(4, 8)[:, ::2]
    return x.double() if seed == "dtype" else x.requires_grad_(seed == "input")


@pytest.mark.parametrize("seed", CACHES if SEEDED else [""])
@pytest.mark.parametrize("_repeat", REPEAT)
def test_vllm(compiles: Any, seed: str, _repeat: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start cold, then warm: three pieces are compiled, and found again."""
    monkeypatch.setattr(AsyncCompile, "cpp_pybinding", lambda *arguments, **options: lambda *inputs: None)
    with compiles(graphs=3, breaks=0):  # vLLM, pull request 35709
        _run(_pieces(), torch.ones(4, 4))
    pieces = _pieces(3.0 if seed == "constant" else 2.0, more=seed == "operation")
    with _settings(seed), compiles(graphs=3, cache_misses=0):
        _run([*pieces, torch.sin] if seed == "fourth" else pieces, _input(seed))
