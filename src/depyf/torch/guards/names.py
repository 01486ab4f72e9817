"""Names for the objects that a file's guards compare with: readable, unique in the file, the same in every run."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable

import torch

from depyf.torch.guards.held import Gone, Held, identifier


class Names:
    """The names in one file, and the objects that the live process must provide."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self.taken = {"L", "G", "torch", *reserved}
        self.bound: dict[str, Held] = {}
        self._by_object: dict[int | str, tuple[str, object]] = {}

    def reserve(self, name: str) -> str:
        """Return an identifier like `name` that is not used in the file, and reserve it."""
        wanted = identifier(name)
        candidate, count = wanted, 1
        while candidate in self.taken or keyword.iskeyword(candidate):
            count += 1
            candidate = f"{wanted}_{count}"
        self.taken.add(candidate)
        return candidate

    def of(self, held: Held) -> str:
        """Return the name for the object of `held`, always the same for the same object."""
        value = held.get()
        identity = value if isinstance(value, str) else id(value)
        if identity in self._by_object and not isinstance(value, Gone):
            return self._by_object[identity][0]
        name = self._name(held, value)
        # Keep the object here as well, so that its address is not reused.
        self._by_object[identity] = (name, value)
        self.bound[name] = held
        return name

    def _name(self, held: Held, value: object) -> str:
        wanted = identifier(held.name)
        if getattr(builtins, wanted, self) is value or value is torch:
            return wanted
        if isinstance(value, type):
            short = identifier(held.name.rpartition(".")[2])
            wanted = wanted if short in self.taken else short
        return self.reserve(wanted if not hasattr(builtins, wanted) else f"{wanted}_object")
