"""Calls of torch's `lazy_format_graph_code`: Dynamo's tell the name of the next graph, a client's ask for a dump.

Clients import the function by name, so replacing it in its module would not reach them; its code is replaced, and
the very same code object is put back.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable

from depyf.report.model import Unavailable
from depyf.torch.adapters import seams
from depyf.torch.adapters.unseen import left_alone, unseen

Listener = Callable[[str, str, seams.GraphModule], None]
"""Is told the module of the caller, the name given to the graph, and the graph module."""


class FormatterPatch:
    """Tells `listener` of every call while installed; the calls themselves go on as before."""

    def __init__(self, listener: Listener) -> None:
        self._tell = unseen(listener)
        self._function: types.FunctionType | None = None
        self._original: types.FunctionType | None = None
        self._own_code: types.CodeType | None = None

    def install(self) -> Unavailable | None:
        """Replace the code of torch's function; return why not, where this torch has no such function."""
        function = seams.graph_formatter()
        if isinstance(function, Unavailable):
            return function
        global _installed
        original = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        original.__kwdefaults__ = function.__kwdefaults__
        self._function, self._original, self._own_code = function, original, _replacement.__code__
        _installed = self
        function.__code__ = self._own_code
        return None

    def remove(self) -> None:
        """Put torch's own code back, unless someone else has replaced it since."""
        global _installed
        if self._function is not None and self._original is not None and self._function.__code__ is self._own_code:
            self._function.__code__ = self._original.__code__
            _installed = None

    @left_alone
    def called(self, caller: str, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Tell the listener of a call and return what torch's own function returns."""
        assert self._original is not None
        name = args[0] if args else kwargs.get("name")
        module = args[1] if len(args) > 1 else kwargs.get("gm")
        self._tell(caller, str(name), module)
        return self._original(*args, **kwargs)


_installed: FormatterPatch | None = None


@left_alone
def forward(args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """Pass on a call of torch's formatter."""
    caller = sys._getframe(2).f_globals.get("__name__", "")
    assert _installed is not None
    return _installed.called(str(caller), args, kwargs)


@left_alone
def _replacement(*args: object, **kwargs: object) -> object:
    # Runs with the globals of torch's module, so it names nothing but what it imports itself.
    from depyf.torch.adapters.formatter import forward

    return forward(args, kwargs)
