"""Reconstruct the pattern from a list of operations on a subject.

Before: v1 = MATCH_SEQUENCE v0; v2 = GET_LEN v0; ...; v5 v6 = UNPACK_SEQUENCE v0; v7 = COMPARE == v5 1; a is v6
After:  v0 matches [1, a]
"""

from __future__ import annotations

import ast
from dataclasses import field
from typing import cast

from depyf.bytecode.records import dataclass
from depyf.decompiler.graph.tac import Inst
from depyf.decompiler.lift.nodes import (
    EMPTY,
    IMPURE,
    Capture,
    CaptureRest,
    CaptureStar,
    MatchTest,
    Var,
    constant,
    variable,
)
from depyf.decompiler.structure.compounds import Compound
from depyf.decompiler.structure.trampoline import Steps, run

NOTHING = -3
"""Stands for a part that was not extracted."""
Captures = dict[int, list[Inst]]
"""The stores of each captured value."""


@dataclass(slots=True)
class Alternatives:
    """The operations of an or-pattern by alternative; a value captured by all of them has its own name."""

    facts: list[list[Inst]]
    outs: list[tuple[int, list[int]]]


@dataclass(slots=True)
class _Shape:
    """The known facts about one subject.

    parts: the extracted values, in order.
    items: those extracted by their index.
    measured: the length was tested.
    """

    kind: str
    inst: Inst
    parts: list[int] = field(default_factory=list)
    starred: int = -1
    length: int = 0
    items: dict[int, int] = field(default_factory=dict)
    result: int = -1
    rest: int = -1
    measured: bool = False
    keys: list[ast.expr] = field(default_factory=list)


def pattern_test(subject: int, facts: list[Inst], captures: Captures) -> Compound:
    """Return the test of a subject for the pattern in the operations `facts`.

    Args:
        subject: the temporary of the subject.
        facts: the operations that test the subject, and take it apart.
        captures: by temporary, the stores that bind a part of the subject.
    """
    pattern = run(_pattern(subject, facts, captures))
    writes = frozenset(cast(str, inst.arg) for stores in captures.values() for inst in stores)

    def make(parts: list[ast.expr]) -> ast.expr:
        return MatchTest(subject=parts[0], pattern=pattern)

    return Compound(make, IMPURE, EMPTY, writes, is_match=True)


def _pattern(subject: int, facts: list[Inst], captures: Captures) -> Steps[ast.pattern]:
    reader = _Reader()
    for inst in facts:
        reader.read(inst)
    done: dict[int, ast.pattern] = {}
    for temp, shapes in reversed(list(reader.shapes.items())):
        for shape in shapes:
            if shape.kind == "ALTERNATIVES":
                pattern = yield _alternatives(temp, cast(Alternatives, shape.inst.arg), captures)
            else:
                pattern = _written(shape, reader, done, captures)
            done[temp] = pattern
    return _named(subject, done, captures)


def _alternatives(subject: int, alternatives: Alternatives, captures: Captures) -> Steps[ast.pattern]:
    patterns: list[ast.pattern] = []
    for number, facts in enumerate(alternatives.facts):
        inner = {args[number]: captures[out] for out, args in alternatives.outs if out in captures}
        shared = {temp: stores for temp, stores in captures.items() if temp != subject}
        pattern = yield _pattern(subject, facts, {**shared, **inner})
        patterns.extend(pattern.patterns if type(pattern) is ast.MatchOr else [pattern])
    return ast.MatchOr(patterns=patterns)


class _Reader:
    """Sorts operations by their subject."""

    def __init__(self) -> None:
        self.shapes: dict[int, list[_Shape]] = {}
        self.result: dict[int, _Shape] = {}
        self.values: dict[int, ast.expr] = {}
        self.length: dict[int, int] = {}
        self.index: dict[int, int] = {}

    def read(self, inst: Inst) -> None:
        """Record one operation."""
        op, uses = inst.op, inst.uses
        if op in ("MATCH_SEQUENCE", "MATCH_MAPPING", "MATCH_CLASS", "ALTERNATIVES"):
            self._open(uses[0], _Shape(op, inst))
            if op == "MATCH_CLASS":
                self.result[inst.defs[0]] = self.shapes[uses[0]][-1]
        elif op == "MATCH_KEYS":
            self._keys(inst)
        elif op == "GET_LEN":
            self.length[inst.defs[0]] = uses[0]
        elif op in ("COMPARE", "IS"):
            self._compare(inst)
        elif op in ("UNPACK_SEQUENCE", "UNPACK_EX"):
            self._unpack(inst)
        elif op == "BINARY":
            self.index[inst.defs[0]] = -cast(int, _value(self.values[uses[1]]))
        elif op == "LOAD_SUBSCR":
            self._item(inst)
        elif op in ("DICT_UPDATE", "COPY_DICT_WITHOUT_KEYS"):
            subject, rest = (uses[1], uses[0]) if op == "DICT_UPDATE" else (uses[0], inst.defs[0])
            self.shapes[subject][-1].rest = rest
        elif op not in ("BUILD_MAP", "DELETE_SUBSCR"):
            self._operand(inst)

    def _open(self, subject: int, shape: _Shape) -> None:
        self.shapes.setdefault(subject, []).append(shape)

    def _operand(self, inst: Inst) -> None:
        """CONST, LOAD_GLOBAL, LOAD_ATTR, BUILD_TUPLE: an operand of a pattern's comparison."""
        (temp,) = inst.defs
        if inst.op == "CONST":
            self.values[temp] = constant(inst.arg)
        elif inst.op == "LOAD_ATTR":
            owner = self.values[inst.uses[0]]
            self.values[temp] = ast.Attribute(value=owner, attr=cast(str, inst.arg), ctx=ast.Load())
        elif inst.op == "BUILD_TUPLE":
            self.values[temp] = ast.Tuple(elts=[self.values[use] for use in inst.uses], ctx=ast.Load())
        else:
            self.values[temp] = variable(inst, ast.Load())

    def _keys(self, inst: Inst) -> None:
        shape = self.shapes[inst.uses[0]][-1]
        keys = self.values[inst.uses[1]]
        value = _value(keys)
        if isinstance(keys, ast.Tuple):
            shape.keys = keys.elts
        elif isinstance(value, tuple):
            shape.keys = [constant(key) for key in value]
        self.result[inst.defs[0]] = shape

    def _compare(self, inst: Inst) -> None:
        subject, other = inst.uses
        if subject in self.length:
            sequence = self.shapes[self.length[subject]][-1]
            if sequence.kind == "MATCH_SEQUENCE":
                sequence.length = cast(int, _value(self.values[other]))
                sequence.measured = True
                sequence.starred = 0 if inst.arg == ">=" else -1
        elif subject not in self.result:
            self._open(subject, _Shape(inst.op, inst))

    def _unpack(self, inst: Inst) -> None:
        (subject,) = inst.uses
        shape = self.result.get(subject)
        if shape is None and subject in self.shapes:
            shape = self.shapes[subject][-1]
        if shape is None:
            return  # The keys of a mapping, which are removed from its rest.
        shape.parts = inst.defs
        if inst.op == "UNPACK_EX":
            shape.starred = cast("tuple[int, int]", inst.arg)[0]

    def _item(self, inst: Inst) -> None:
        subject, place = inst.uses
        index = self.index[place] if place in self.index else cast(int, _value(self.values[place]))
        shape = self.result.get(subject)
        if shape is None:
            self.shapes[subject][-1].items[index] = inst.defs[0]
            return
        # Attributes of a class and values of a mapping are extracted one by one before 3.11, without the wildcards.
        shape.parts += [NOTHING] * (index + 1 - len(shape.parts))
        shape.parts[index] = inst.defs[0]


def _written(shape: _Shape, reader: _Reader, done: dict[int, ast.pattern], captures: Captures) -> ast.pattern:
    """Return the pattern of a subject; those of its parts are in `done`."""

    def part(temp: int) -> ast.pattern:
        return _named(temp, done, captures)

    inst = shape.inst
    if shape.kind == "COMPARE":
        return ast.MatchValue(value=reader.values[inst.uses[1]])
    if shape.kind == "IS":
        pattern = ast.MatchSingleton(value=None)
        pattern.value = _value(reader.values[inst.uses[1]])  # type: ignore[assignment]
        return pattern
    if shape.kind == "MATCH_MAPPING":
        patterns = [part(temp) for temp in shape.parts]
        patterns += [ast.MatchAs() for _ in shape.keys[len(patterns) :]]
        rest = _variable(captures.get(shape.rest))
        return CaptureRest(shape.keys, patterns, rest)
    if shape.kind == "MATCH_CLASS":
        return _class(shape, reader, [part(temp) for temp in shape.parts])
    return ast.MatchSequence(patterns=_elements(shape, part, captures))


def _class(shape: _Shape, reader: _Reader, patterns: list[ast.pattern]) -> ast.pattern:
    inst = shape.inst
    names = cast("tuple[str, ...]", _value(reader.values[inst.uses[2]]))
    count = cast(int, inst.arg)
    patterns += [ast.MatchAs() for _ in range(count + len(names) - len(patterns))]
    return ast.MatchClass(
        cls=reader.values[inst.uses[1]],
        patterns=patterns[:count],
        kwd_attrs=list(names),
        kwd_patterns=patterns[count:],
    )


def _elements(shape: _Shape, part, captures: Captures) -> list[ast.pattern]:  # type: ignore[no-untyped-def]
    """Return the elements of a sequence pattern; parts that were not extracted are `_`."""
    if shape.parts:
        patterns: list[ast.pattern] = [part(temp) for temp in shape.parts]
        if shape.inst.op == "MATCH_SEQUENCE" and shape.starred >= 0:
            patterns[shape.starred] = CaptureStar(_variable(captures.get(shape.parts[shape.starred])))
        return patterns
    patterns = [ast.MatchAs() for _ in range(shape.length)]
    unbounded = shape.starred >= 0 or not shape.measured
    for index, temp in shape.items.items():
        patterns[index] = part(temp)
    if unbounded:
        patterns.insert(1 + max((index for index in shape.items if index >= 0), default=-1), CaptureStar(None))
    return patterns


def _named(temp: int, done: dict[int, ast.pattern], captures: Captures) -> ast.pattern:
    """Return the pattern of a value with the names of its captures."""
    pattern = done.get(temp)
    for store in captures.get(temp, []):
        pattern = Capture(pattern, _variable([store]))
    return pattern if pattern is not None else ast.MatchAs()


def _variable(stores: list[Inst] | None) -> Var | None:
    return variable(stores[0], ast.Store()) if stores else None


def _value(expr: ast.expr) -> object:
    return expr.value if isinstance(expr, ast.Constant) else None
