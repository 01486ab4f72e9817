"""Guards on tensors: their properties in one clause, and the marks of `mark_dynamic` and related functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import torch

from depyf.bytecode.patterns import pattern
from depyf.torch.adapters.marks import DYNAMIC, INDICES
from depyf.torch.guards.clause import Clause, Leaf, Piece, Text
from depyf.torch.guards.kinds import containers
from depyf.torch.guards.kinds.identity import named
from depyf.torch.guards.kinds.place import Place
from depyf.torch.guards.kinds.reading import constant
from depyf.torch.guards.literal import quoted
from depyf.torch.guards.verdicts.difference import ABSENT
from depyf.torch.guards.verdicts.tensor_match import dispatch_key_names, plain_keys
from depyf.torch.guards.words import expression

_MATCH = pattern(
    r", (?P<type>[\w.<>]+), DispatchKeySet\((?P<keys>[^)]*)\), torch\.(?P<dtype>\w+), device=(?P<device>\w+), "
    r"requires_grad=(?P<grad>\w+), size=(?P<size>\[.*?\]), stride=(?P<stride>\[.*?\])\)$",
    re.DOTALL,
)


def _ordinary_device(keys: str) -> str:
    """Return the device type of an ordinary tensor with these dispatch keys, such as `cpu`, or "" for other tensors."""
    device = keys.partition(",")[0].lower()
    return device if plain_keys(device) == keys else ""


def tensor_match(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`tensor(x, torch.Tensor, torch.float32, "cpu", size=(2, None), ...)`."""
    described = _described(leaf.parts[0].replace(at.source, "", 1))
    cls = at.cls
    if described is None or cls is None or cls.__qualname__ != described.type:
        return None
    name = described.device or ("" if at.value is ABSENT else at.value.device.type)  # type: ignore[attr-defined]
    properties = f', {described.dtype}, "{name}{described.device_index}", {described.rest}'
    arguments: Text = (at.at, ", ", _class(cls), properties)
    return at.clause(
        leaf, "tensor(", *arguments, ")", differences=("tensor_differences(", *arguments, ")"), expected="", pins=cls
    )


class _Described(NamedTuple):
    """The facts about a tensor in torch's text: the name of its type, and the arguments of `tensor(...)`.

    `device` is the type of device of an ordinary tensor, '' for any other.
    """

    type: str
    dtype: str
    device: str
    device_index: str
    rest: str


@lru_cache(maxsize=1024)
def _described(words: str) -> _Described | None:
    """Return the facts in a text without the tensor's name. Cached: many parameters have the same text."""
    match = _MATCH.search(expression(words))
    if match is None:
        return None
    size, stride = (tuple(_numbers(match[name])) for name in ("size", "stride"))
    device = _ordinary_device(match["keys"])
    keys = "" if device else f", keys={quoted(match['keys'])}"
    index = "" if match["device"] == "None" else f":{match['device']}"
    rest = f"size={size}, stride={stride}, requires_grad={match['grad']}{keys}"
    return _Described(match["type"], f"torch.{match['dtype']}", device, index, rest)


def _class(cls: type) -> Piece:
    """Return the piece for a class: torch's own by name, others held."""
    return {torch.Tensor: "torch.Tensor", torch.nn.Parameter: "torch.nn.Parameter"}.get(cls) or named(cls)


def _numbers(text: str) -> list[int | None]:
    sizes = constant(text, ())
    return sizes if isinstance(sizes, list) else []


_BETWEEN = "\0"
_ABSENT_MARK = pattern(r"hasattr\(.*, '(?P<name>\w+)'\) == False$", re.DOTALL)
_EXPECTED_MARK = pattern(r"\(\(getattr\(.*?, '(?P<name>\w+)', set\(\)\)\.issubset\((?P<value>.*)\)\) if ", re.DOTALL)
_GATED_MARK = pattern(
    r"\(\(getattr\(.*?, '(?P<name>\w+)', None\) == (?P<value>.*)\) if hasattr\(.*, '(?P<gate>\w+)'\) else True\)$",
    re.DOTALL,
)


def marks(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`marked(x, {})`: no dimension may be marked; `marked(x, {"_dynamo_dynamic_indices": {0}})`: this one may."""
    wanted = _wanted_marks(_BETWEEN.join(leaf.parts).replace(at.source, "x"))
    return None if wanted is None else _marked(leaf, at, wanted)


@lru_cache(maxsize=1024)
def _wanted_marks(parts: str) -> Mapping[str, str] | None:
    """Return the marks in torch's words about a tensor `x`: most tensors have the same words."""
    wanted: dict[str, str] = {}
    looked_at: set[str] = set()
    for part in map(expression, parts.split(_BETWEEN)):
        if absent := _ABSENT_MARK.match(part):
            looked_at.add(absent["name"])
        elif (expected := _EXPECTED_MARK.match(part)) and constant(expected["value"], ()) is not ABSENT:
            looked_at.add(expected["name"])
            wanted[expected["name"]] = expected["value"]
        elif (gated := _GATED_MARK.match(part)) and constant(gated["value"], ()) is not ABSENT:
            wanted[gated["name"]] = f"({gated['value']}, {quoted(gated['gate'])})"
        else:
            return None
    return wanted if looked_at == set(INDICES) else None


def _marked(leaf: Leaf, at: Place, wanted: Mapping[str, str]) -> list[Clause]:
    spelled = "{" + ", ".join(f"{quoted(name)}: {value}" for name, value in wanted.items()) + "}"
    arguments: Text = (at.at, f", {spelled}")
    return at.clause(leaf, "marked(", *arguments, ")", differences=("marked_differences(", *arguments, ")"))


_SUBSET = pattern(r"\(?(?:\(.*?\.)?.*\.issubset\((?P<value>\{[^}]*\}|set\(\))\)", re.DOTALL)


def dynamic_indices(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`marked(x, {"_dynamo_dynamic_indices": {0}})`, if torch checks no other marks."""
    match = _SUBSET.search(expression(leaf.parts[0]))
    return None if match is None else _marked(leaf, at, {DYNAMIC: match["value"]})


_UNMARKED = pattern(rf"hasattr\(.*, '{DYNAMIC}'\) == False$", re.DOTALL)


def no_hasattr(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`marked(x, {})`, as torch before 2.13 writes it. Any other attribute is `attribute_missing`."""
    unmarked = INDICES == (DYNAMIC,) and _UNMARKED.match(expression(leaf.parts[0]))
    return _marked(leaf, at, {}) if unmarked else containers.no_hasattr(leaf, at)


def dispatch_key_set(leaf: Leaf, at: Place) -> list[Clause] | None:
    """`dispatch_key_names(x) == "CPU, AutogradCPU"`: the keys that an operation would see now."""
    if not isinstance(at.value, torch._C.DispatchKeySet):
        return None
    keys = quoted(dispatch_key_names(at.value))
    names: Text = ("dispatch_key_names(", at.at, ")")
    return at.clause(leaf, *names, f" == {keys}", expected=keys, actual=names)
