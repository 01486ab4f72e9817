"""Change the form that a pass takes a little, at random; each change is a line of Python (see `changes`).

What is changed is anything that hangs on the form: a number, a name, a part that goes, comes twice or is one of its
kind from elsewhere.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass

from depyf.bytecode.code import Code
from depyf.bytecode.places import Place
from depyf.decompiler.lift.nodes import LITERALS
from depyf.decompiler.pipeline.work import Work
from tests.quality.forms.changes import named, names_of
from tests.quality.forms.vary import EXPRESSIONS, OVER, STATEMENTS

DEEPEST = 14
SELDOM = frozenset({"defs", "index", "temps", "offset", "places", "lineno", "near", "source_order", "exact_ranges"})
"""Fields that few passes ask for, or that must be as they are."""
MOST_PLACES = 2500
STEPS = (-8, -4, -2, -1, 1, 2, 4, 8)
"""By how much a place in the source is moved."""
PLAIN = (int, str, bool, type(None))
NEARER = 0.75
"""How many of the values that are put in stand in the same field elsewhere."""


@dataclass(frozen=True)
class Spot:
    """Something that hangs on a form: how it is reached, what it is, and the name of the field that it is in."""

    path: str
    value: object
    field: str
    is_member: bool

    @property
    def kind(self) -> type:
        """Return what it may be exchanged for."""
        if isinstance(self.value, ast.expr):
            return ast.expr
        return ast.stmt if isinstance(self.value, ast.stmt) else type(self.value)


def places(part: object, path: str, field: str, *, is_member: bool = False, depth: int = 0) -> Iterator[Spot]:
    """Yield what hangs on a part of a form, itself included."""
    if depth > DEEPEST or isinstance(part, Code):
        return
    yield Spot(path, part, field, is_member)
    if isinstance(part, list):
        for number, member in enumerate(part):
            yield from places(member, f"{path}[{number}]", field, is_member=True, depth=depth + 1)
    elif isinstance(part, dict):
        for key, value in part.items():
            if isinstance(key, PLAIN):
                yield from places(value, f"{path}[{key!r}]", field, depth=depth + 1)
    else:
        for name in names_of(part):
            yield from places(getattr(part, name), f"{path}.{name}", name, depth=depth + 1)


def placed(name: str, work: Work) -> list[Spot]:
    """Return what may be changed of what a pass takes."""
    spots = [spot for field, part in named(name, work).items() for spot in places(part, field, field)]
    return [spot for spot in spots[:MOST_PLACES] if spot.path != spot.field]


def change(spots: list[Spot], rng: random.Random) -> str:
    """Return one change as a line, or nothing."""
    written = [spot for spot in spots if isinstance(spot.value, Place)] if rng.random() < 0.3 else []
    place = rng.choice(written or spots)
    if place.field in SELDOM and rng.random() < 0.9:
        place = rng.choice(spots)
    value = place.value
    if place.is_member and rng.random() < 0.2:
        return f"del {place.path}\n"
    if isinstance(value, list):
        return _in_list(place, value, spots, rng)
    if isinstance(value, (ast.stmt, ast.expr)) and rng.random() < 0.4:
        return _written(place, value, rng)
    if isinstance(value, (set, frozenset)):
        return f"{place.path} = {type(value).__name__}({{{rng.randrange(8)}}})\n" if isinstance(value, set) else ""
    if isinstance(value, dict):
        return f"{place.path}.clear()\n" if rng.random() < 0.1 else ""
    if isinstance(value, Place) and rng.random() < 0.6:
        name = rng.choice(("line", "line", "column", "column", "end_line", "end_column"))
        return f"{place.path} = {place.path}._replace({name}={max(getattr(value, name) + rng.choice(STEPS), 0)})\n"
    other = _other(place, spots, rng)
    return f"{place.path} = {other}\n" if other else ""


def _in_list(place: Spot, value: list[object], spots: list[Spot], rng: random.Random) -> str:
    members = [spot for spot in spots if spot.is_member and spot.field == place.field]
    at = rng.randrange(len(value) + 1)
    match rng.randrange(4):
        case 0 if value:
            return f"{place.path}.clear()\n"
        case 1 if len(value) > 1:
            return f"{place.path}.reverse()\n"
        case 2 if place.field in ("body", "orelse", "stmts", "finalbody"):
            return f"{place.path}[{at}:{at}] = code({rng.choice(STATEMENTS)!r})\n"
        case _ if members:
            return f"{place.path}.insert({at}, {_said(rng.choice(members))})\n"
    return ""


def _written(place: Spot, value: ast.AST, rng: random.Random) -> str:
    if isinstance(value, ast.stmt):
        return f"{place.path} = code({rng.choice(STATEMENTS)!r})[0]\n"
    if rng.random() < 0.5:
        return f"{place.path} = code({rng.choice(EXPRESSIONS)!r})[0].value\n"
    if rng.random() < 0.5:
        return f"{place.path} = ast.UnaryOp(ast.Not(), {place.path})\n"
    wrap = rng.choice([text for text in OVER if text.endswith("x") or text.startswith("x")][:8])
    return f"{place.path} = code({wrap.replace('x', 'True')!r})[0].value\n"


def _said(place: Spot) -> str:
    """Return what stands for a value of its own."""
    return repr(place.value) if isinstance(place.value, LITERALS) else f"copy({place.path})"


def _other(place: Spot, spots: list[Spot], rng: random.Random) -> str | None:
    """Return what may stand in a place instead."""
    value = place.value
    if isinstance(value, bool):
        return repr(not value)
    alike = [spot for spot in spots if spot.field == place.field and spot.kind is place.kind and spot is not place]
    if isinstance(value, PLAIN) and (not alike or rng.random() > NEARER):
        others = (0, 1, -1, 2, value + 1, value - 1) if isinstance(value, int) else (None, 0, 1, "a", "other", "__a")
        wanted = [
            candidate
            for candidate in others
            if candidate != value and (value is None or type(candidate) is type(value))
        ]
        return repr(rng.choice(wanted)) if wanted else None
    if not alike or (isinstance(value, ast.AST) and rng.random() > NEARER):
        alike = [spot for spot in spots if spot.kind is place.kind and spot is not place] or alike
    alike = [spot for spot in alike if isinstance(spot.value, (ast.AST, Place, *LITERALS)) or names_of(spot.value)]
    # What is the same as it was changes nothing.
    alike = [spot for spot in alike if not isinstance(value, PLAIN) or spot.value != value]
    return _said(rng.choice(alike)) if alike else None
