"""Compute the terms of the statements of a kernel."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from depyf.bytecode.records import dataclass
from depyf.links.inductor.evaluate import SCANS
from depyf.links.inductor.statements import Statement, is_accumulator
from depyf.links.inductor.terms import PLACED, REDUCED_BY, Terms
from depyf.model.syntax import names_in, nodes_below

_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.And: "and",
    ast.Or: "or",
    ast.USub: "neg",
    ast.Invert: "not",
    ast.Not: "not",
}
_OF_TWO = {"std.max": "maximum", "std.min": "minimum"}
"""The functions of scalar C++ whose names are those of reductions elsewhere: `std::max(tmp0, decltype(tmp0)(0))`."""

_CONVERSIONS = frozenset(
    "broadcast_to to reshape static_cast Vectorized decltype VectorizedN float double bool int convert expand_dims view"
    " float32 int64 int32 trans scale_cast cast promote_to_tensor VecMask".split()
)
_PLACES = frozenset(("arange",))
"""Functions that return indices, which are not values of the graph."""
_MASK = re.compile(r"^(?:[xyz]|r\d*_?)mask$")
_COMBINED = re.compile(r"_triton_helper_fn_(?P<name>[a-z]+)\d+$")
_INDICES = re.compile(r"^_?tmp(?:\d|_acc)")


@dataclass(slots=True)
class Body:
    """The values in a kernel while its statements are followed.

    contents: the terms of the memory that its pointers point to.
    values: the terms of its variables.
    """

    terms: Terms
    contents: dict[str, int]
    values: dict[str, int] = field(default_factory=dict)
    accumulators: set[int] = field(default_factory=set)
    aliases: dict[str, str] = field(default_factory=dict)
    is_accumulating: bool = False

    def follow(self, statement: Statement) -> int | None:
        """Record the assignment of a statement, and return its term, or None if it is not a value of the graph."""
        if statement.place is not None:
            return self._store(statement)
        target = statement.targets[0] if statement.targets else ""
        if not target.startswith(("tmp", "_tmp")):
            return self._of_template(target, statement.value)
        if is_accumulator(target) and not any(_INDICES.match(name) for name in statement.names):
            self.values[target] = self.terms.leaf(f"accumulator {target}")
            self.accumulators.add(self.values[target])
            return None
        self.is_accumulating = is_accumulator(target)
        parts = self._parts(statement.value, len(statement.targets))
        for name in statement.targets:
            # Each loop of a C++ kernel declares its names again.
            self.values.pop(name, None)
        self.values.update(zip(statement.targets, parts))
        return parts[0] if parts else None

    def _of_template(self, target: str, value: ast.expr) -> int | None:
        """Record an alias of a pointer, and the loads and products of a template: `acc += tl.dot(a, b)`."""
        if isinstance(value, ast.Name) and (_is_pointer(value.id) or value.id in self.contents):
            self.aliases[target] = value.id
            return None
        calls = [node for node in nodes_below(value) if isinstance(node, ast.Call)]
        call = next((call for call in calls if ast.unparse(call.func) in ("tl.dot", "tl.load")), None)
        term = self.term(call) if call is not None else None
        if term is not None:
            self.values[target] = term
        return term

    def _store(self, statement: Statement) -> int | None:
        term = self.term(statement.value)
        names = names_in(statement.place or statement.value)
        pointer = next((name for name in names if _is_pointer(name)), "")
        if pointer and statement.is_scattered:
            # The memory after all programs is not a value of this line.
            self.contents[self.aliases.get(pointer, pointer)] = self.terms.leaf(f"scattered by line {statement.line}")
        elif pointer and term is not None:
            self.contents[self.aliases.get(pointer, pointer)] = term
        return term

    def _parts(self, value: ast.expr, count: int) -> list[int]:
        if count == 1:
            term = self.term(value)
            return [] if term is None else [term]
        given = [self.term(argument) for argument in getattr(value, "args", [])]
        known = [term for term in given if term is not None]
        name = value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
        if name == "sort_with_index" and known:
            return [self.terms.of(f"sort {index}", known[0]) for index in range(count)]
        if name == "welford_reduce" and known:
            return self._welford(known)
        if name == "welford" and len(known) >= count:
            return self._welford(known[:count])
        return [self.terms.of(f"{name} {index}", *known) for index in range(count)]

    def _welford(self, given: list[int]) -> list[int]:
        """Return the mean and the squares of a block's elements, or of the accumulated values."""
        name, _ = self.terms.made[given[0]]
        if name == "welford":
            return given[:3]
        return [self.terms.of("welford", given[0]), self.terms.of("squares", given[0]), self.terms.leaf("weight")]

    def term(self, value: ast.expr) -> int | None:
        """Return the term of an expression, or None if it is not a value of the graph."""
        terms: dict[int, int | None] = {}
        for node in reversed(nodes_below(value)):
            terms[id(node)] = self._of(node, terms)
        return terms[id(value)]

    def _of(self, node: ast.AST, terms: Mapping[int, int | None]) -> int | None:
        match node:
            case ast.Name(id=name):
                return self.values.get(name)
            case ast.Constant(value=bool() | int() | float() as number):
                return self.terms.constant(number)
            case ast.UnaryOp(op=operator, operand=operand):
                return self._unary(operator, terms[id(operand)])
            case (
                ast.BinOp(left=left, op=operator, right=right)
                | ast.Compare(left=left, ops=[operator], comparators=[right])
            ):
                return self._operation(_BINARY.get(type(operator), "unknown"), [terms[id(left)], terms[id(right)]])
            case ast.BoolOp(op=operator, values=values):
                return self._operation(_BINARY[type(operator)], [terms[id(value)] for value in values])
            case ast.Subscript(value=base):
                is_load = isinstance(base, ast.Name) and _is_pointer(base.id)
                return self._loaded(node) if is_load else terms[id(base)]
            case ast.Call(func=ast.Name(id=name), args=[]):
                return self.values.get(name)  # before: `tmp6()`, a function in a C++ kernel that returns a masked value
            case ast.Call() if _called(node) not in _PLACES:
                return self._call(node, terms)
        return None

    def _unary(self, operator: ast.unaryop, operand: int | None) -> int | None:
        if operand is None:
            return None
        value = self.terms.value_of(operand) if isinstance(operator, ast.USub) else None
        return self.terms.constant(-value) if value is not None else self.terms.of(_BINARY[type(operator)], operand)

    def _operation(self, name: str, parts: Iterable[int | None]) -> int | None:
        known = [part for part in parts if part is not None]
        carried = [part for part in known if part in self.accumulators]
        if carried and name in REDUCED_BY and len(known) == 2:
            # A value that is added to an accumulator is reduced.
            return self.terms.of(
                REDUCED_BY[name], next(part for part in known if part not in carried or len(carried) > 1)
            )
        if self.is_accumulating and name in REDUCED_BY and len(known) == 2:
            # A separate statement adds the lanes at the end of a row to the same accumulator.
            again = self.terms.of(REDUCED_BY[name], known[1])
            return again if again == known[0] else self.terms.of(name, *known)
        return self.terms.of(name, *known) if known else None

    def _loaded(self, node: ast.AST) -> int | None:
        names = [self.aliases.get(name, name) for name in names_in(node)]
        pointer = next((name for name in names if name in self.contents), None)
        if pointer is None:
            return None
        known = [self.values[name] for name in names if _INDICES.match(name) and name in self.values]
        # A comparison of positions is a mask, not an index.
        indices = [term for term in known if not self.terms.is_of_places(term)]
        content = self.contents[pointer]
        return self.terms.of("indexed", content, *indices) if indices else content

    def _call(self, node: ast.Call, terms: Mapping[int, int | None]) -> int | None:
        """Return the term of a call: `libdevice.exp(tmp0)`, `tmp0.exp()`, `at.vec.maximum(tmp0, tmp1)`."""
        function = node.func
        name = _OF_TWO.get(ast.unparse(function), _called(node))
        owner = terms.get(id(function.value)) if isinstance(function, ast.Attribute) else None
        given = [terms[id(arg)] for arg in node.args]
        if name in ("load", "loadu"):
            return self._loaded(node)
        if name == "associative_scan":
            return self._scanned(node, terms)
        if name in ("full", "float") and (number := _number_of(name, node.args)) is not None:
            return self._number(number)
        if name in ("where", "blendv") and len(node.args) == 3:
            return self._chosen(name, node.args[0], given)
        if name in _CONVERSIONS:
            return next((term for term in (owner, *given) if term is not None), None)
        if name in REDUCED_BY.values() or name in ("max2", "min2"):
            return self._reduced(name, given)
        if name.endswith("_masked_reduce"):
            return self._operation({"sum": "add", "max": "maximum", "min": "minimum"}.get(name[:3], name), given[:2])
        return self._operation(name, [owner, *given])

    def _scanned(self, node: ast.Call, terms: Mapping[int, int | None]) -> int | None:
        """before: `tl.associative_scan((tmp2,), 1, _triton_helper_fn_add0)`."""
        blocks = getattr(node.args[0], "elts", [])
        combined = _COMBINED.match(ast.unparse(node.args[-1]))
        scan = SCANS.get(combined["name"]) if combined is not None else None
        return self._operation(scan, [terms[id(blocks[0])]]) if scan is not None and len(blocks) == 1 else None

    def _chosen(self, name: str, condition: ast.expr, given: list[int | None]) -> int | None:
        """Return the term of a choice. If only a mask decides, it is the value in the active lanes."""
        if name == "blendv":
            given = given[::-1]
        elif self._is_mask(condition):
            return given[1]
        test, value, other = given
        is_placed = test is not None and other is not None and self.terms.value_of(other) == 0.0
        if value is not None and test is not None and is_placed and self.terms.is_of_places(test):
            return self.terms.of(PLACED, value)
        return self._operation("where", given)

    def _reduced(self, name: str, given: list[int | None]) -> int | None:
        term = given[0] if given else None
        if len(given) > 1 and name in ("max", "min") and given[1] is not None and not self.terms.is_number(given[1]):
            return self._operation(f"{name}imum", given[:2])
        is_done = term is not None and self.terms.made[term][0] in (*REDUCED_BY.values(), "squares", "mean")
        is_accumulated = is_done and term in self._accumulated()
        return term if is_accumulated or term is None else self.terms.of(name, term)

    def _accumulated(self) -> set[int]:
        return {term for name, term in self.values.items() if is_accumulator(name)}

    def _is_mask(self, condition: ast.expr) -> bool:
        names = names_in(condition)
        return bool(names) and all(_MASK.match(name) for name in names)

    def _number(self, node: ast.expr) -> int | None:
        text = ast.unparse(node).strip("'\"").removeprefix("float('").removesuffix("')")
        try:
            return self.terms.constant(float({"True": "1", "False": "0"}.get(text, text)))
        except ValueError:
            return None


def _called(node: ast.Call) -> str:
    """Return the name of the function or method that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_pointer(name: str) -> bool:
    return "ptr" in name or name.startswith("local_buffer")


def _number_of(name: str, given: list[ast.expr]) -> ast.expr | None:
    """Return the number in `tl.full([1], 2.0, tl.float32)` or `float("inf")`, or None."""
    number = given[-2 if name == "full" and len(given) > 2 else -1] if given else None
    return number if number is not None and _is_literal(number) else None


def _is_literal(node: ast.expr) -> bool:
    return not any(isinstance(child, ast.Name) and _INDICES.match(child.id) for child in nodes_below(node))
