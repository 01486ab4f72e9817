"""The numbers of a captured run, as a trainer logs them."""

from __future__ import annotations

from depyf.model.counts import breaks_of
from depyf.model.phases import duration
from depyf.model.run import Recompile, Session

PREFIX = "depyf/"
"""The start of the name of each number."""


def numbers_of(session: Session, step_seconds: float | None = None) -> dict[str, float]:
    """Return the numbers of a run: compiles, recompiles, breaks, failures, calls of code that runs eagerly, seconds.

    step_seconds: how long the last step took, in seconds, if it was measured.
    """
    compiles = [compiled for _, compiled in session.compiles()]
    eager = [function.eager_calls for function in session.functions.values() if function.eager_calls is not None]
    numbers = {
        "compiles": len(compiles),
        "recompiles": sum(isinstance(compiled.trigger, Recompile) for compiled in compiles),
        "graph_breaks": breaks_of(compiles).places,
        "failures": sum(compiled.failure is not None for compiled in compiles),
        "eager_calls": sum(eager),
        "compile_seconds": round(sum(duration(compiled.seconds) for compiled in compiles), 3),
    }
    if step_seconds is not None:
        numbers["step_seconds"] = step_seconds
    return {f"{PREFIX}{name}": float(value) for name, value in numbers.items()}
