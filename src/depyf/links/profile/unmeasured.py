"""Why a profile has no steps, from the calls and the compiles of its run."""

from __future__ import annotations

from depyf.findings import findings
from depyf.model.counts import counted
from depyf.model.naming import title
from depyf.model.run import Function, Recompile, Session

WARM = 4
"""Calls in a row that compile nothing before a first step is measured: the profiler starts at the third one."""
ENOUGH = 100
"""The number of steps that are enough for a profile with lines of eager code."""


def why_unmeasured(session: Session) -> str:
    """Return why no step of a run could be measured, and what to change, as one sentence.

    before: a function that is called 6 times and compiled in each call
    after: a step needs 4 calls in a row without a compile, and all 6 calls of `step` compiled; fix the recompiles first
    """
    functions = [function for function in session.functions.values() if function.compiles]
    if not functions:
        return "nothing was compiled"
    function = max(functions, key=_recompiles)
    ids = {str(compiled.id) for compiled in function.compiles}
    # An entry serves the call that compiled it, also where torch does not count hits.
    calls = sum(max(compiled.hits or 0, 1) for compiled in function.compiles)
    needed = f"a step needs {WARM} calls in a row without a compile"
    if not _recompiles(function):
        return f"{needed}, and `{title(function)}` was called {counted(calls, 'time')}; run {ENOUGH} steps"
    cause = next((finding for finding in findings(session) if ids & set(finding.compiles)), None)
    place = f" at {cause.where}" if cause is not None and cause.where is not None else ""
    of = f"all {calls} calls" if len(ids) >= calls else f"{len(ids)} of {calls} calls"
    return f"{needed}, and {of} of `{title(function)}` compiled; fix the recompiles{place} first"


def _recompiles(function: Function) -> int:
    return sum(isinstance(compiled.trigger, Recompile) for compiled in function.compiles)
