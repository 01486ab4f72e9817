"""The Python objects that a function can reach: put back after a call, and compared by what the call changed."""

from __future__ import annotations

import random
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from depyf.bytecode.records import dataclass

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_MOST_OBJECTS = 2000
"""The most objects that are copied. A function that reaches a data set in a global reaches more."""
_MOST_BYTES = 256 * 2**20
"""The most bytes of tensors in containers that are copied."""
_MOST_ITEMS = 100
"""The most items of a container that its sketch shows."""
_OF_EACH_MODULE = frozenset(torch.nn.Module().__dict__) - {"training"}
"""The attributes of each module that torch keeps for itself."""


class Sketch(str):
    """The contents of an object as text: plain values as they are, everything else by its type."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    """An object, its name from the function, its sketch before the call, and the function that puts it back."""

    name: str
    sketch: Callable[[], Sketch]
    before: Sketch
    restore: Callable[[], object]


class PythonState:
    """The lists, dicts, sets, deques, objects and tensors in them that a function can reach."""

    def __init__(self, roots: Iterable[tuple[str, object]]) -> None:
        """Copy what `roots` refer to: pairs of a name and a value. Modules are entered by their own attributes only."""
        self._kept: list[_Kept] = []
        self._tensors: list[tuple[str, Tensor, Tensor]] = []
        self._bytes = 0
        self.is_whole = True
        seen: set[int] = set()
        work = deque(roots)
        while work:
            name, value = work.popleft()
            if id(value) in seen or isinstance(value, (*_PLAIN, type)):
                continue
            seen.add(id(value))
            if len(self._kept) >= _MOST_OBJECTS:
                self.is_whole = False
                return
            if isinstance(value, Tensor):
                self._keep_tensor(name, value)
            else:
                work.extend((f"{name}{path}", item) for path, item in self._keep(name, value))

    def _keep_tensor(self, name: str, tensor: Tensor) -> None:
        if tensor.layout is not torch.strided or tensor.is_meta or tensor.is_inference():
            self.is_whole = False  # Outside of inference mode torch changes no tensor that was made in it.
            return
        self._bytes += tensor.numel() * tensor.element_size()
        if self._bytes > _MOST_BYTES:
            self.is_whole = False
        else:
            self._tensors.append((name, tensor, tensor.detach().clone()))

    def _keep(self, name: str, value: Any) -> list[tuple[str, object]]:
        """Copy one object, without what its items refer to. Return the items, by their paths from it."""
        items: list[tuple[str, object]] = []
        if isinstance(value, tuple):
            return [(f"[{index}]", item) for index, item in enumerate(value)]
        if isinstance(value, (list, deque)):
            items = [(f"[{index}]", item) for index, item in enumerate(value)]
        elif isinstance(value, dict):
            items = [(f"[{key!r}]", item) for key, item in value.items() if isinstance(key, _PLAIN)]
        for kind, restoring in _RESTORING:
            if isinstance(value, kind):
                self._add(name, value, restoring(value), _sketch)
                break
        attributes = _attributes(value)
        if attributes:
            self._add(name, value, _attributes_back(value, attributes), _sketch_of_attributes)
        return [*items, *((f".{key}", item) for key, item in attributes.items())]

    def _add(self, name: str, value: Any, restore: Callable[[], object], sketch: Callable[[Any], Sketch]) -> None:
        self._kept.append(_Kept(name, lambda: sketch(value), sketch(value), restore))

    def restore(self) -> None:
        """Put everything back, in place."""
        for kept in self._kept:
            kept.restore()
        with torch.no_grad():
            for _, tensor, copy in self._tensors:
                # An unchanged tensor is left alone: autograd counts each write, and may still need the value.
                if tensor.shape == copy.shape and not _is_equal(tensor, copy):
                    tensor.copy_(copy)

    def changed(self) -> Iterator[tuple[str, Sketch | Tensor]]:
        """Yield what differs from before: the sketch of an object, or the tensor, each with its name."""
        for kept in self._kept:
            now = kept.sketch()
            if now != kept.before:
                yield kept.name, now
        for name, tensor, copy in self._tensors:
            if tensor.shape != copy.shape or not _is_equal(tensor, copy):
                yield name, tensor


def _is_equal(first: Tensor, second: Tensor) -> bool:
    """Return whether two tensors of one shape have equal values, of any dtype, also float8. NaN equals NaN."""
    return bool(((first == second) | ((first != first) & (second != second))).all())


def _list_back(value: list[Any]) -> Callable[[], object]:
    items = list(value)
    return lambda: list.__setitem__(value, slice(None), items)


def _deque_back(value: deque[Any]) -> Callable[[], object]:
    items = list(value)
    return lambda: (deque.clear(value), deque.extend(value, items))


def _ordered_back(value: OrderedDict[Any, Any]) -> Callable[[], object]:
    items = list(value.items())
    return lambda: (OrderedDict.clear(value), OrderedDict.update(value, items))


def _dict_back(value: dict[Any, Any]) -> Callable[[], object]:
    items = dict(value)
    return lambda: (dict.clear(value), dict.update(value, items))


def _set_back(value: set[Any]) -> Callable[[], object]:
    items = set(value)
    return lambda: (set.clear(value), set.update(value, items))


def _random_back(value: random.Random) -> Callable[[], object]:
    state = value.getstate()
    return lambda: value.setstate(state)


_RESTORING: tuple[tuple[type, Callable[[Any], Callable[[], object]]], ...] = (
    (list, _list_back),
    (deque, _deque_back),
    (OrderedDict, _ordered_back),
    (dict, _dict_back),
    (set, _set_back),
    (random.Random, _random_back),
)
"""How objects of each type are put back. The methods are those of the type itself: a class may replace them."""


def _attributes(value: object) -> dict[str, object]:
    """Return the attributes of an object of the program's own, or of a module without those that torch keeps there."""
    attributes = getattr(value, "__dict__", None)
    if not isinstance(attributes, dict):
        return {}
    if isinstance(value, torch.nn.Module):
        return {name: item for name, item in attributes.items() if name not in _OF_EACH_MODULE}
    is_of_library = type(value).__module__.partition(".")[0] in ("torch", "builtins", "threading", "logging")
    return {} if is_of_library else dict(attributes)


def _attributes_back(value: Any, attributes: dict[str, object]) -> Callable[[], object]:
    def restore() -> None:
        for name in _attributes(value).keys() - attributes.keys():
            del value.__dict__[name]
        value.__dict__.update(attributes)

    return restore


def _sketch(value: Any) -> Sketch:
    if isinstance(value, random.Random):
        return Sketch(f"Random in state {hash(value.getstate()):x}")
    pairs = value.items() if isinstance(value, dict) else ((None, item) for item in _in_order(value))
    shown = [f"{key!r}: {_short(item)}" if isinstance(value, dict) else _short(item) for key, item in pairs]
    rest = zlib.crc32("".join(shown[_MOST_ITEMS:]).encode("utf-8", "surrogatepass"))
    more = f", ... ({len(shown)} items, the others with the checksum {rest:08x})" if len(shown) > _MOST_ITEMS else ""
    return Sketch(f"{type(value).__name__}({', '.join(shown[:_MOST_ITEMS])}{more})")


def _in_order(value: Any) -> list[Any]:
    return sorted(value, key=_short) if isinstance(value, set) else list(value)


def _sketch_of_attributes(value: Any) -> Sketch:
    return Sketch(", ".join(f"{name}={_short(item)}" for name, item in _attributes(value).items()))


def _short(item: object) -> str:
    """Return a plain value as it is, a tensor by its dtype and shape, and any other object by its type."""
    if isinstance(item, _PLAIN):
        return repr(item)
    if isinstance(item, Tensor):
        return f"{str(item.dtype).removeprefix('torch.')} {list(item.shape)}"
    if isinstance(item, (tuple, list, set, frozenset)) and all(isinstance(part, _PLAIN) for part in item):
        return repr(item)[:200]
    return type(item).__qualname__
