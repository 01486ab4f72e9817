"""The bars of real programs, as far as they fit into a test run; `make bars` runs all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import models, replica, toy
from benchmarks.bar import Bar
from corpus.small_models import TRAININGS
from depyf.torch.adapters import lacking
from tests.torch.needs import needs


def _not_met(bars: list[Bar]) -> list[Bar]:
    return [bar for bar in bars if not bar.met]


@pytest.mark.parametrize("backend", toy.BACKENDS)
def test_the_toy_example(backend: str, tmp_path: Path) -> None:
    assert _not_met(toy.of_backend(backend, tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_of_a_real_model(name: str) -> None:
    assert _not_met(models.measure_one(name, "aot_eager")) == []


@needs(lacking.guard_trees())
@pytest.mark.parametrize("sizes", [(10,), (10, 8)], ids=str)
def test_the_replica(sizes: tuple[int, ...]) -> None:
    assert _not_met(replica.served("eager", sizes)) == []
    assert _not_met(replica.refused(sizes)) == []
