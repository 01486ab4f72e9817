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
    called = [each.called for _, compiled in session.compiles() for each in compiled.breaks]
    broken = {(each.filename, each.line) for each in called if each is not None}
    for each, times in session.bypassed.items():
        if each.way is Way.METHOD and each.detail in _RUNS:
            yield _of_method(each, times)
        elif each.way is Way.HOOK:
            if each.reason != DISABLED or each.where is None or (each.where.filename, each.where.line) not in broken:
                yield _of_hook(each)
        elif each.way is Way.STANCE:
            calls.setdefault((each.about, each.detail, each.reason == UNKNOWN), []).append((each, times))
    for (about, stance, _), found in calls.items():
        yield _of_stance(about, stance, found)


def _of_method(found: Bypass, times: int) -> Finding:
    method = found.what.rpartition(".")[2]
    cause = (
        f"{counted(times, 'call')} of `{found.what}` ran eager: `torch.compile(module)` compiles only calls of the "
        f"module, and `{found.about}.{method}` {_RUNS[found.detail]} without the compiled code"
    )
    # Dynamo skips the frame of torch's own `forward`, so `module.compile()` compiles nothing for `CALL_OF_TORCH`.
    fix = (
        f"compile the module in place with `module.compile()`, which also serves its calls inside of `{method}`"
        if found.detail == CALL
        else f"compile the method as well: `torch.compile(module.{method})`"
    )
    where = place(found.where) if found.where is not None else None
    return Finding("bypassed-method", "high", where, cause, Cost(times, 0.0, 0), fix, ())


def _of_hook(found: Bypass) -> Finding:
    where = place(found.where) if found.where is not None else None
    if found.reason == DISABLED:
        cause = (
            f"The {found.detail} `{found.what}` runs eager beside each call of the code of `{found.about}`: "
            "`torch.compiler.disable` leaves it out"
        )
        return Finding("disabled-hook", "low", where, cause, Cost(None, 0.0, 0), "", (found.compile,))
    module, _, function = found.about.partition(", ")
    cause = (
        f"Compiled code does not run the {found.detail} `{found.what}` of `{module}`: the hook was registered after "
        f"compile {found.compile} of `{function}`, and torch does not guard on hooks"
    )
    fix = (
        "register the hook before the first call of the compiled function, or set "
        "`torch._dynamo.config.skip_nnmodule_hook_guards = False` before it"
    )
    return Finding("late-hook", "medium", where, cause, Cost(None, 0.0, 0), fix, (found.compile,))


def _of_stance(about: str, stance: str, found: list[tuple[Bypass, int]]) -> Finding:
    """Return the finding about the calls of one function under one stance, at the place with most of them."""
    first, _ = max(found, key=lambda pair: pair[1])
    times = sum(count for _, count in found)
    calls = f"{counted(times, 'call')} of `{about}`"
    cost = Cost(times, 0.0, 0)
    where = place(first.where) if first.where is not None else None
    elsewhere = f", from {counted(len(found), 'place')}" if len(found) > 1 else ""
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
