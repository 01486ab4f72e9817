"""`dataclass` as in the standard library, made in a third of the time.

depyf defines some 350 data classes, of which a first capture loads 200. The standard library writes six methods of
each as text and compiles them, which takes 0.4 ms a class: half of what depyf took to load. Here it compiles `__init__`
alone. `__eq__`, `__hash__` and `__repr__` are ordinary functions that ask for the fields. That a class is frozen is
checked by the type checker and not again at runtime, which makes instances in half the time, too.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    from operator import attrgetter
    from reprlib import recursive_repr

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, order=False, **options):
        """Take what `dataclasses.dataclass` takes and return such a class, whose `frozen` types alone hold."""

        def decorate(cls):
            own = vars(cls)
            shows, compares, hashes = "__repr__" not in own, "__eq__" not in own, own.get("__hash__") is None
            made = dataclasses.dataclass(eq=order, order=order, repr=False, **options)(cls)
            if repr and shows:
                made.__repr__ = _repr
            if eq:
                equal, hashed = _comparing([each.name for each in dataclasses.fields(made) if each.compare])
                if compares:
                    made.__eq__ = equal
                if hashes:
                    made.__hash__ = hashed if frozen else None
            return made

        return decorate if cls is None else decorate(cls)

    def _comparing(names):
        values = attrgetter(*names) if len(names) > 1 else lambda of: tuple(getattr(of, name) for name in names)

        def equal(self, other):
            if self.__class__ is not other.__class__:
                return NotImplemented
            return values(self) == values(other)

        def hashed(self):
            return hash(values(self))

        return equal, hashed

    @recursive_repr()
    def _repr(self):
        shown = (each.name for each in dataclasses.fields(self) if each.repr)
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"
