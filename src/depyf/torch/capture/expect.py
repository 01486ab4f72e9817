"""`expect`: a block or a function that compiles what it should, or raises."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import ParamSpec, TypeVar

from depyf.report.contract.contract import Contract, check
from depyf.report.findings import Finding, findings
from depyf.report.model import Session
from depyf.torch.capture.watch import Watch

P = ParamSpec("P")
R = TypeVar("R")


class expect:  # noqa: N801 - a context manager is named like a function
    """Raise `CompileContractError` at the end of a block that compiled otherwise than it says here.

    Nothing is written, and a call of code that is compiled already costs nothing. As a decorator, and where one object
    is entered again, it counts what all calls together have compiled. An exception of the block itself goes its way.

        with depyf.expect(graphs=1, breaks=0):
            step(x)

    Args:
        graphs: the number of graphs that are compiled; None: any.
        breaks: at most so many places where a graph ends.
        recompiles: at most so many compiles since every entry refused the call.
        eager_calls: at most so many frames that Dynamo was asked to compile and left to Python: skipped, given up, or
            past the limit of recompiles. A frame counts when Dynamo looks at it, not each time it runs.
        cache_misses: at most so many compiles that the FX graph cache or AOTAutograd's cache did not have.
        allow: names of modules or packages, or patterns of shell style, in whose code all of this is allowed.

    Raises:
        CompileContractError: on leaving: the contract is broken.
        RuntimeError: on entering: this torch (before 2.4) does not say what it compiles.
        TypeError: a count is none.
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
            raise TypeError(f"allow is a list of names of modules, not {allow!r} alone")
        self.contract = Contract(graphs, breaks, recompiles, eager_calls, cache_misses, tuple(allow))
        self._watch = Watch()

    @property
    def session(self) -> Session:
        """What was compiled, as far as the block has come."""
        return self._watch.session

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What there is to say of it, the worst first."""
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
        """Return the function with the contract around each of its calls."""

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return checked
