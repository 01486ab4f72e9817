"""Objects: class, attributes, slots, properties, dataclasses, weak references, and attributes that are missing."""

from __future__ import annotations

import dataclasses
import weakref
from functools import partial

import torch

from corpus.guards.program import Change, Program, Value, attribute


@dataclasses.dataclass
class Options:
    scale: Value = 2
    bias: Value = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    scale: Value = 2


@dataclasses.dataclass
class MoreOptions(Options):
    pass


class Slotted:
    __slots__ = ("scale", "bias")

    def __init__(self, scale: Value) -> None:
        self.scale = scale


class Plain:
    kind = 4

    def __init__(self, **attributes: Value) -> None:
        self.__dict__.update(attributes)

    @property
    def doubled(self) -> Value:
        return self.scale * 2  # type: ignore[attr-defined]

    def method(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.kind

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


class Derived(Plain):
    kind = 5


class Computed:
    """An object that makes up its attributes."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __getattr__(self, name: str) -> int:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._value


def x() -> torch.Tensor:
    return torch.ones(3)


def scaled(x: torch.Tensor, o: Value) -> torch.Tensor:
    return x * o.scale


def optional(x: torch.Tensor, o: Value) -> torch.Tensor:
    return x * o.scale if hasattr(o, "scale") else x * 2


def doubled(x: torch.Tensor, o: Value) -> torch.Tensor:
    return x * o.doubled


def class_attribute(x: torch.Tensor, o: Value) -> torch.Tensor:
    return x * o.kind


def method(x: torch.Tensor, o: Value) -> torch.Tensor:
    return o.method(x)


def called(x: torch.Tensor, o: Value) -> torch.Tensor:
    return o(x)


def chain(x: torch.Tensor, o: Value) -> torch.Tensor:
    return x * o.child.child.scale


def instance(x: torch.Tensor, o: Value) -> torch.Tensor:
    return x * 2 if isinstance(o, Options) else x


def same(x: torch.Tensor, o: Value, p: Value) -> torch.Tensor:
    return x * 2 if o is p else x * 3


def holds_tensor(x: torch.Tensor, o: Value) -> torch.Tensor:
    return x + o.weight


def referred(x: torch.Tensor, reference: Value) -> torch.Tensor:
    return x * reference().scale


def class_itself(x: torch.Tensor, cls: Value) -> torch.Tensor:
    return x * cls.kind


def fields(x: torch.Tensor, o: Value) -> torch.Tensor:
    return x * len(dataclasses.fields(o)) + o.scale


def _with(make: Value) -> tuple[Value, ...]:
    return x(), make()


def case(name: str, function: Value, make: Value, others: dict[str, Value], **more: Value) -> Program:
    """Return a program of a tensor and an object, which is made anew for every call."""
    changes = tuple(Change(what, partial(_with, other)) for what, other in others.items())
    return Program(name, function, lambda: (x(), make()), changes, **more)


def nested(scale: Value) -> Plain:
    return Plain(child=Plain(child=Plain(scale=scale)))


KEPT = Plain(scale=2)
OTHER = Plain(scale=3)


def _with_kind(value: Value) -> Plain:
    plain = Plain(scale=2)
    plain.kind = value
    return plain


PROGRAMS = (
    case(
        "dataclass",
        scaled,
        Options,
        {
            "other value": lambda: Options(3),
            "float": lambda: Options(2.0),
            "other field": lambda: Options(2, 5),
            "derived": MoreOptions,
            "frozen": Frozen,
            "none": lambda: None,
            "tensor": x,
            "deleted": lambda: _deleted(Options(), "scale"),
        },
    ),
    case("frozen_dataclass", scaled, Frozen, {"other value": lambda: Frozen(3), "not frozen": Options}),
    case("dataclass_fields", fields, Options, {"other value": lambda: Options(3), "derived": MoreOptions}),
    case(
        "slots",
        scaled,
        lambda: Slotted(2),
        {"other": lambda: Slotted(3), "empty": lambda: Slotted.__new__(Slotted), "plain": lambda: Plain(scale=2)},
    ),
    case(
        "plain",
        scaled,
        lambda: Plain(scale=2),
        {"other": lambda: Plain(scale=3), "missing": Plain, "derived": lambda: Derived(scale=2)},
    ),
    case(
        "property",
        doubled,
        lambda: Plain(scale=2),
        {"other": lambda: Plain(scale=3), "missing": Plain, "shadowed": lambda: Plain(scale=2, doubled=9)},
    ),
    case(
        "class_attribute",
        class_attribute,
        Plain,
        {"derived": Derived, "on the instance": lambda: _with_kind(6), "same on it": lambda: _with_kind(4)},
    ),
    Program(
        "class_attribute_changed",
        class_attribute,
        lambda: (x(), KEPT),
        (
            Change("changed", None, lambda: attribute(Plain, "kind", 9)),
            Change("changed to a float", None, lambda: attribute(Plain, "kind", 4.0)),
            Change("set to the same", None, lambda: attribute(Plain, "kind", 4)),
        ),
        keeps=True,
    ),
    case("missing_attribute", optional, Plain, {"there": lambda: Plain(scale=2), "another one": lambda: Plain(bias=2)}),
    case("attribute_there", optional, lambda: Plain(scale=2), {"missing": Plain, "other": lambda: Plain(scale=3)}),
    case("computed", scaled, lambda: Computed(2), {"other": lambda: Computed(3), "plain": lambda: Plain(scale=2)}),
    case("method", method, Plain, {"derived": Derived, "own method": lambda: Plain(method=lambda x: x)}),
    case("callable", called, Plain, {"derived": Derived, "function": lambda: torch.sin}),
    case(
        "chain",
        chain,
        lambda: nested(2),
        {
            "other": lambda: nested(3),
            "broken": lambda: Plain(child=Plain(child=None)),
            "cut": lambda: Plain(child=None),
        },
    ),
    case("isinstance", instance, Options, {"derived": MoreOptions, "plain": Plain, "other value": lambda: Options(9)}),
    Program(
        "same_object",
        same,
        lambda: (x(), KEPT, KEPT),
        (
            Change("two objects", lambda: (x(), KEPT, OTHER)),
            Change("the other twice", lambda: (x(), OTHER, OTHER)),
        ),
    ),
    Program(
        "two_objects",
        same,
        lambda: (x(), KEPT, OTHER),
        (
            Change("the same", lambda: (x(), KEPT, KEPT)),
            Change("swapped", lambda: (x(), OTHER, KEPT)),
        ),
    ),
    case(
        "tensor_attribute",
        holds_tensor,
        lambda: Plain(weight=x()),
        {
            "dtype": lambda: Plain(weight=x().double()),
            "number": lambda: Plain(weight=1),
            "size": lambda: Plain(weight=torch.ones(1)),
        },
    ),
    Program(
        "tensor_attribute_same",
        holds_tensor,
        lambda: (lambda t: (t, Plain(weight=t)))(x()),
        (Change("different", lambda: (x(), Plain(weight=x()))),),
    ),
    Program(
        "weak_reference",
        referred,
        lambda: (x(), weakref.ref(KEPT)),
        (
            Change("to another", lambda: (x(), weakref.ref(OTHER))),
            Change("dead", lambda: (x(), weakref.ref(Plain(scale=2)))),
            Change("no reference", lambda: (x(), KEPT)),
        ),
    ),
    case("class", class_itself, lambda: Plain, {"derived": lambda: Derived, "instance": Plain}),
)


def _deleted(owner: Value, name: str) -> Value:
    delattr(owner, name)
    return owner
