"""Count the calls that run a function's own code after Dynamo gave it up or it reached its limit of entries."""

from __future__ import annotations

import types

from depyf.model.run import Function, Session, Unavailable
from depyf.torch.adapters.eager_runs import Starts, watch_starts
from depyf.torch.capture.weak_codes import WeakCodes

EAGER_CALLS = "calls that ran eager"
"""The name of the count that is missing if Python cannot count these calls cheaply."""


class EagerCalls:
    """The functions of a context that run eagerly. Nothing is watched before there is one."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._functions: WeakCodes[Function] = WeakCodes()
        self._starts: Starts | Unavailable | None = None

    def watch(self, code: types.CodeType, function: Function) -> None:
        """Count the calls of a function that run `code` from now on, including the current call."""
        if self._starts is None:
            self._starts = watch_starts(self._count, WeakCodes.get.__code__)
        if isinstance(self._starts, Unavailable):
            self._session.unavailable[EAGER_CALLS] = self._starts.reason
            return
        if self._functions.get(code) is None:
            self._functions[code] = function
            function.eager_calls = function.eager_calls or 0
            self._starts.add(code)

    def end(self) -> None:
        """Stop counting."""
        if isinstance(self._starts, Starts):
            self._starts.end()
        self._starts = None

    def _count(self, code: types.CodeType) -> None:
        function = self._functions.get(code)
        if function is not None:
            function.eager_calls = (function.eager_calls or 0) + 1
