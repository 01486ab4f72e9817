"""Calls of torch's `lazy_format_graph_code`. Dynamo's calls name the next graph; a client's calls ask for a dump.

Clients import the function by name, so replacing it in its module would not reach them. Its code is replaced instead,
and the same code object is restored.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable

from depyf.model.run import Unavailable
from depyf.torch.adapters import seams
from depyf.torch.adapters.unseen import left_alone, unseen

Listener = Callable[[str, str, seams.GraphModule], None]
"""Receives the module of the caller, the name of the graph, and the graph module."""


class FormatterPatch:
    """Calls `listener` for every call while installed. The calls themselves work as before."""

    def __init__(self, listener: Listener) -> None:
        self._tell = unseen(listener)
        self._function: types.FunctionType | None = None
        self._original: types.FunctionType | None = None
        self._own_code: types.CodeType | None = None

    def install(self) -> Unavailable | None:
        """Replace the code of torch's function; return why not, if this torch has no such function."""
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
        """Restore torch's own code, unless another tool has replaced it since."""
        global _installed
        if self._function is not None and self._original is not None and self._function.__code__ is self._own_code:
            self._function.__code__ = self._original.__code__
            _installed = None

    @left_alone
    def called(self, caller: str, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """Pass a call to the listener, and return the result of torch's own function.

        Args:
            caller: the module that called the formatter.
            args: the positional arguments of the call.
            kwargs: the keyword arguments of the call.
        """
        assert self._original is not None
        name = args[0] if args else kwargs.get("name")
        module = args[1] if len(args) > 1 else kwargs.get("gm")
        self._tell(caller, str(name), module)
        return self._original(*args, **kwargs)


_installed: FormatterPatch | None = None


@left_alone
def forward(args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """Forward a call of torch's formatter."""
    caller = sys._getframe(2).f_globals.get("__name__", "")
    assert _installed is not None
    return _installed.called(str(caller), args, kwargs)


@left_alone
def _replacement(*args: object, **kwargs: object) -> object:
    # This runs with the globals of torch's module, so it uses only what it imports itself.
    from depyf.torch.adapters.formatter import forward

    return forward(args, kwargs)
