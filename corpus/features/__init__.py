"""Features of torch for `benchmarks.unnoticed`: each a function without arguments whose result can be compared."""

from __future__ import annotations

import importlib
from collections.abc import Callable

MODULES = (
    *("calls", "training", "operators", "failing", "surroundings", "packaging", "ways", "reading", "models"),
    *("asked", "observed", "learning", "settings"),
)

Feature = Callable[[], object]

QUICK_KERNELS = {
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
    "TORCHINDUCTOR_VEC_ISA_OK": "1",
    "OMP_NUM_THREADS": "1",
}
"""The environment in which the one kernel of a feature compiles in 4 seconds and not in 11, in each cold cache."""


class NotHere(Exception):
    """A feature that this torch does not have."""


def load() -> dict[str, Feature]:
    """Return every feature by `module.function`."""
    features: dict[str, Feature] = {}
    for name in MODULES:
        module = importlib.import_module(f"corpus.features.{name}")
        functions = {
            key: value for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
        }
        features.update({f"{name}.{key}": value for key, value in functions.items() if _is_feature(key, value)})
    return features


def _is_feature(name: str, value: object) -> bool:
    return callable(value) and not isinstance(value, type) and not name.startswith("_")
