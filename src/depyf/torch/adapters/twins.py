"""Receive what torch's modules log, without a visible change to the loggers.

The modules get a twin of the logger: an object of another class that shares the logger's attributes. A program that
asks `logging` for the logger gets the original, without additions.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from depyf.torch.adapters.unseen import left_alone_with_calls

METHODS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}
"""The methods that modules call, with their levels."""

Listener = Callable[[object, "tuple[object, ...]"], None]
"""Receives each line before the logger does: the message and its arguments. It must not raise."""


class _Twin:
    """The twin of one logger in the modules of one package, while it has listeners."""

    def __init__(self, log: logging.Logger, package: str) -> None:
        self.log = log
        self.listeners: list[Listener] = []
        self.curious: list[Listener] = []
        """Listeners that also want lines for developers, so that modules produce them."""
        self._package = package
        plain = type(log)
        attributes: dict[str, Any] = {name: _heard(self, name) for name in METHODS}
        attributes |= {"isEnabledFor": _enabled(self), "__module__": plain.__module__}
        self._object: logging.Logger = object.__new__(type(plain.__name__, (plain,), attributes))
        object.__setattr__(self._object, "__dict__", vars(log))

    def put_in(self) -> None:
        self._replace(self.log, self._object)

    def take_out(self) -> None:
        self._replace(self._object, self.log)

    def _replace(self, old: logging.Logger, new: logging.Logger) -> None:
        for attributes, key in _holders(old, self._package):
            attributes[key] = new


_twins: dict[tuple[str, str], _Twin] = {}
_lock = threading.Lock()


def hear(log: logging.Logger, package: str, listener: Listener, *, is_curious: bool = False) -> Callable[[], None]:
    """Pass what the modules of `package` log to `log` on to `listener`; return a function that ends this.

    With `is_curious`, modules that check whether lines for developers are wanted find that they are. Listeners may end
    in any order, because contexts and contracts nest.
    """
    key = (log.name, package)
    with _lock:
        twin = _twins.setdefault(key, _Twin(log, package))
        twin.listeners.append(listener)
        if is_curious:
            twin.curious.append(listener)
        twin.put_in()

    def end() -> None:
        with _lock:
            twin.listeners.remove(listener)
            if is_curious:
                twin.curious.remove(listener)
            if not twin.listeners:
                twin.take_out()
                _twins.pop(key, None)

    return end


def _holders(log: logging.Logger, package: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield where modules of `package` have this logger: the attributes of the module, and a name among them."""
    below = f"{package}."
    for name, module in list(sys.modules.items()):
        if (name.startswith(below) or name == package) and module is not None:
            attributes = vars(module)
            # Compare attributes one by one only in the few modules that have it, because there are thousands.
            if id(log) in map(id, list(attributes.values())):
                yield from ((attributes, key) for key, value in list(attributes.items()) if value is log)


def _heard(twin: _Twin, name: str) -> Callable[..., None]:
    @left_alone_with_calls
    def say(_: logging.Logger, message: object, *args: object, **kwargs: Any) -> None:
        for listener in tuple(twin.listeners):
            listener(message, args)
        # One more stack level: a record contains the calling line.
        passed_on: Callable[..., None] = getattr(twin.log, name)
        passed_on(message, *args, **{**kwargs, "stacklevel": kwargs.get("stacklevel", 1) + 1})

    return say


def _enabled(twin: _Twin) -> Callable[[logging.Logger, int], bool]:
    @left_alone_with_calls
    def enabled(_: logging.Logger, level: int) -> bool:
        return (level == logging.DEBUG and bool(twin.curious)) or twin.log.isEnabledFor(level)

    return enabled
