"""Findings about compiles that torch could not cache, so that every process repeats them."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.findings.cache_misses.key import BYPASS, cache_name
from depyf.findings.failures import cost_of, place
from depyf.model.finding import Finding
from depyf.model.reproducible import without_addresses
from depyf.model.run import Session
from depyf.model.user_line import UserLine


def of_caches(session: Session) -> Iterator[Finding]:
    """Yield a finding for each compile that bypassed a cache of torch's, with torch's reason."""
    for function, compiled in session.compiles():
        for event in compiled.caches:
            if event.outcome == BYPASS:
                where = place(UserLine(function.filename, function.first_line, "", function.name))
                reason = " ".join(without_addresses(event.reason).split()).rstrip(".") or "torch gives no reason"
                cause = f"The {cache_name(event)} was bypassed, so that every process compiles it: {reason}"
                yield Finding("cache-bypass", "low", where, cause, cost_of(compiled), _fix(reason), (str(compiled.id),))


def _fix(reason: str) -> str:
    """Return the fix for a reason of torch's, or ""."""
    return next((fix for words, fix in FIXES.items() if words in reason), "")


FIXES = {
    "custom pass": "derive the pass from `torch._inductor.custom_graph_pass.CustomGraphPass` and give it a `uuid()`",
    "uuid": "give the custom pass a `uuid()` that changes with its code",
    "Pickl": "keep objects that cannot be pickled out of the graph's constants and settings",
    "pickle": "keep objects that cannot be pickled out of the graph's constants and settings",
    "autograd.Function": "set `torch._functorch.config.autograd_cache_allow_custom_autograd_functions`",
    "freezing": "compile without `torch._inductor.config.freezing`, or with `freezing_discard_parameters`",
}
"""Fixes by words in torch's reason."""
