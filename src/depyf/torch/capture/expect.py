"""`expect`: a block or a function that must compile as stated, or raises."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import ParamSpec, TypeVar

from depyf.findings import Finding, findings
from depyf.findings.contract.contract import Contract, check
from depyf.model.run import Session
from depyf.torch.capture.watch import Watch

P = ParamSpec("P")
R = TypeVar("R")


class expect:  # noqa: N801 - a context manager is named like a function
    """Raise `CompileContractError` at the end of a block that compiles differently than stated here.

    Nothing is written, and calls of compiled code cost nothing more. As a decorator, or if one object is entered again,
    it counts the compiles of all calls together. An exception of the block itself propagates.

        with depyf.expect(graphs=1, breaks=0):
            step(x)

    Args:
        graphs: the exact number of graphs; None: any.
        breaks: the most places where a graph ends.
        recompiles: the most compiles that are made because every entry refused the call.
        eager_calls: the most frames that Dynamo was asked to compile and left to Python: skipped, given up, or past the
            limit of recompiles. A frame counts when Dynamo looks at it, not each time it runs.
        cache_misses: the most compiles that the FX graph cache or AOTAutograd's cache did not have.
        allow: names of modules or packages, or shell patterns, whose code the contract ignores.

    Raises:
        CompileContractError: on exit: the contract is broken.
        RuntimeError: on entry: this torch (before 2.4) does not report its compiles.
        TypeError: a count is not a number.
    """

    def __init__(
        self,
        graphs: int | None = None,
        breaks: int | None = None,
        recompiles: int | None = None,
        eager_calls: int | None = None,
        cache_misses: int | None = None,
        allow: Iterable[str] = (),
    ) -> None:
        if isinstance(allow, str):
            raise TypeError(f"allow must be a list of names of modules, not the string {allow!r}")
        self.contract = Contract(graphs, breaks, recompiles, eager_calls, cache_misses, tuple(allow))
        self._watch = Watch()

    @property
    def session(self) -> Session:
        """The facts of the block's compiles so far."""
        return self._watch.session

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings about it, worst first."""
        return findings(self.session)

    def __enter__(self) -> expect:
        self._watch.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        __tracebackhide__ = True
        self._watch.close()
        if kind is None:
            check(self.session, self.contract)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function with the contract around all its calls."""

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return checked
