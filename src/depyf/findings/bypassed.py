"""Findings about calls that compiled code does not serve, and about hooks and marks without effect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from depyf.findings.failures import place
from depyf.model.bypass import (
    CALL,
    CALL_OF_TORCH,
    DISABLED,
    FAIL_ON_RECOMPILE,
    FORCE_EAGER,
    FORWARD,
    PARTS,
    UNKNOWN,
    Bypass,
    Way,
)
from depyf.model.counts import counted
from depyf.model.finding import Cost, Finding
from depyf.model.reproducible import without_addresses
from depyf.model.run import Session

_RUNS = {
    CALL: "calls the module itself",
    CALL_OF_TORCH: "calls the module itself",
    FORWARD: "calls its `forward`",
    PARTS: "calls modules in it",
}
"""The words for what a method runs."""


def of_bypassed(session: Session) -> Iterator[Finding]:
    """Yield a finding for each thing that compiled code did not serve."""
    calls: dict[tuple[str, str, bool], list[tuple[Bypass, int]]] = {}
    # The finding of a break covers a disabled hook that ends a graph.
    called = [graph_break.called for _, compiled in session.compiles() for graph_break in compiled.breaks]
    broken = {(callee.filename, callee.line) for callee in called if callee is not None}
    for bypass, times in session.bypassed.items():
        if bypass.way is Way.METHOD and bypass.detail in _RUNS:
            yield _of_method(bypass, times)
        elif bypass.way is Way.HOOK:
            if (
                bypass.reason != DISABLED
                or bypass.where is None
                or (bypass.where.filename, bypass.where.line) not in broken
            ):
                yield _of_hook(bypass)
        elif bypass.way is Way.STANCE:
            calls.setdefault((bypass.about, bypass.detail, bypass.reason == UNKNOWN), []).append((bypass, times))
    for (about, stance, _), bypasses in calls.items():
        yield _of_stance(about, stance, bypasses)


def _of_method(bypass: Bypass, times: int) -> Finding:
    method = bypass.what.rpartition(".")[2]
    cause = (
        f"{counted(times, 'call')} of `{bypass.what}` ran eager: `torch.compile(module)` compiles only calls of the "
        f"module, and `{bypass.about}.{method}` {_RUNS[bypass.detail]} without the compiled code"
    )
    # Dynamo skips the frame of torch's own `forward`, so `module.compile()` compiles nothing for `CALL_OF_TORCH`.
    fix = (
        f"compile the module in place with `module.compile()`, which also serves its calls inside of `{method}`"
        if bypass.detail == CALL
        else f"compile the method as well: `torch.compile(module.{method})`"
    )
    where = place(bypass.where) if bypass.where is not None else None
    return Finding("bypassed-method", "high", where, cause, Cost(times, 0.0, 0), fix, ())


def _of_hook(bypass: Bypass) -> Finding:
    where = place(bypass.where) if bypass.where is not None else None
    if bypass.reason == DISABLED:
        cause = (
            f"The {bypass.detail} `{bypass.what}` runs eager beside each call of the code of `{bypass.about}`: "
            "`torch.compiler.disable` leaves it out"
        )
        return Finding("disabled-hook", "low", where, cause, Cost(None, 0.0, 0), "", (bypass.compile,))
    module, _, function = bypass.about.partition(", ")
    cause = (
        f"Compiled code does not run the {bypass.detail} `{bypass.what}` of `{module}`: the hook was registered after "
        f"compile {bypass.compile} of `{function}`, and torch does not guard on hooks"
    )
    fix = (
        "register the hook before the first call of the compiled function, or set "
        "`torch._dynamo.config.skip_nnmodule_hook_guards = False` before it"
    )
    return Finding("late-hook", "medium", where, cause, Cost(None, 0.0, 0), fix, (bypass.compile,))


def _of_stance(about: str, stance: str, bypasses: list[tuple[Bypass, int]]) -> Finding:
    """Return the finding about the calls of one function under one stance, at the place with most of them."""
    first, _ = max(bypasses, key=lambda pair: pair[1])
    times = sum(count for _, count in bypasses)
    calls = f"{counted(times, 'call')} of `{about}`"
    cost = Cost(times, 0.0, 0)
    where = place(first.where) if first.where is not None else None
    elsewhere = f", from {counted(len(bypasses), 'place')}" if len(bypasses) > 1 else ""
    if stance == FAIL_ON_RECOMPILE:
        reason = f": {without_addresses(first.reason)}" if first.reason else ""
        cause = f"{calls} raised an exception under the stance `{stance}`, because no entry serves {_it(times)}{reason}"
        fix = "make a call of this kind before the stance is set, so that there is an entry for it"
        return Finding("stance-failed", "high", where, cause + elsewhere, replace(cost, eager_calls=None), fix, ())
    if stance == FORCE_EAGER:
        cause = f"{calls} ran eager under the stance `{stance}`"
        return Finding("stance-eager", "low", where, cause + elsewhere, cost, "", ())
    if first.reason == UNKNOWN:
        cause = f"{calls} ran under the stance `{stance}`; this torch does not report which of them ran eager"
        return Finding("stance-eager", "low", where, cause + elsewhere, replace(cost, eager_calls=None), "", ())
    cause = f"{calls} ran eager under the stance `{stance}`, because no entry serves {_it(times)}"
    fix = "make a call of this kind before the stance is set, so that there is an entry for it"
    return Finding("stance-eager", "medium", where, cause + elsewhere, cost, fix, ())


def _it(times: int) -> str:
    return "it" if times == 1 else "them"
