"""Findings about random numbers of NumPy that torch draws in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.findings.failures import cost_of, place
from depyf.model.finding import Finding
from depyf.model.run import Session

KIND = "numpy-random-of-torch"
CAUSE = (
    "In compiled code this function of `numpy.random` draws from torch's generator: `numpy.random.seed` before the "
    "call has no effect, and NumPy draws other numbers without `torch.compile`"
)
FIX = (
    "draw them before the call, and pass them as a tensor; or set `torch._dynamo.config.use_numpy_random_stream = True`"
    ", which calls NumPy and ends the graph there"
)


def of_drawn(session: Session) -> Iterator[Finding]:
    """Yield a finding for each compile and line at which torch draws for a function of `numpy.random`."""
    for _, compiled in session.compiles():
        for line in compiled.drawn:
            yield Finding(KIND, "medium", place(line), CAUSE, cost_of(compiled), FIX, (str(compiled.id),))
