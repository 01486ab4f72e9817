"""Random operations for a given stack, mostly such that may stand there."""

from __future__ import annotations

import random
from collections.abc import Callable

from depyf.bytecode.versions.facts import Facts
from tests.quality.fuzz.effects import FIXED
from tests.quality.fuzz.lowering import CELLS, FREE, VARIABLES
from tests.quality.fuzz.program import FREE_VARIABLES, Kinds, Op, is_value

KEYS = ("k", "m", "x y")
CONSTANTS = (None, None, 0, 1, -1, 2.5, True, False, "k", "text", b"b", (1, 2), ("k", None), ..., 3000)
ATTRIBUTES = ("n", "m", "method")
OPERATORS = ("+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^")
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")


class Proposals:
    """Makes up operations for one program."""

    def __init__(self, chance: random.Random, facts: Facts) -> None:
        self.chance = chance
        self.opcodes = frozenset(facts.table.opcodes.values())
        self.above = facts.null_above
        self.shape = "above" if facts.null_above else "below"
        self.pairs = "PUSH_NULL" in self.opcodes
        self.makers: list[Callable[[Kinds], list[Op]]] = [
            self.load, self.load, self.store, self.move, self.drop_top, self.call, self.call, self.call,
            self.begin_call, self.attribute, self.operator, self.subscript, self.build, self.grow, self.unpack,
            self.cells, self.globals, self.text, self.function, self.imports, self.truth, self.iterate,
        ]  # fmt: skip

    def next(self, kinds: Kinds, *, generator: bool) -> list[Op]:
        """Return operations to try."""
        if generator and kinds and self.chance.random() < 0.1:
            return [Op("YIELD")]
        return self.chance.choice(self.makers)(kinds)

    def pick(self, *options: object) -> object:
        """Return one of several."""
        return self.chance.choice(options)

    def variable(self) -> str:
        """Return a variable, often one that holds an observed value."""
        return self.chance.choice((FIXED, FIXED, FIXED, *VARIABLES))

    def value(self) -> Op:
        """Return the load of some value."""
        pick = self.chance.random()
        if pick < 0.6:
            return Op("LOAD_FAST", self.variable())
        if pick < 0.8:
            return Op("CONST", self.chance.choice(CONSTANTS))
        return Op("LOAD_GLOBAL", self.pick("g", "h"))

    def observed(self) -> Op:
        """Return the load of an observed value."""
        return Op("LOAD_FAST", FIXED) if self.chance.random() < 0.6 else Op("LOAD_GLOBAL", self.pick("g", "h"))

    def keyed(self, key: str) -> list[Op]:
        """Return the making of a dict of one item."""
        if "BUILD_CONST_KEY_MAP" in self.opcodes:
            return [self.value(), Op("BUILD_CONST_KEY_MAP", (key,))]
        return [Op("CONST", key), self.value(), Op("BUILD_MAP", 1)]

    def load(self, kinds: Kinds) -> list[Op]:
        """Load something."""
        return [self.value()]

    def store(self, kinds: Kinds) -> list[Op]:
        """Set or unset a variable."""
        name = self.chance.choice(VARIABLES[1:])
        pick = self.chance.random()
        if pick < 0.1:
            return [Op("DELETE_FAST", name)]
        if pick < 0.2 and "LOAD_FAST_AND_CLEAR" in self.opcodes:
            return [Op("TAKE", name)]
        return [Op("STORE_FAST", name)]

    def move(self, kinds: Kinds) -> list[Op]:
        """Move values on the stack."""
        if "SWAP" in self.opcodes:
            name = self.chance.choice(("COPY", "SWAP", "ROT", "SWAP"))
            return [Op(name, self.chance.randint(1 if name == "COPY" else 2, max(2, len(kinds))))]
        return [self.chance.choice((Op("COPY", 1), Op("SWAP", 2), Op("ROT", 3), Op("ROT", 4), Op("ROT", 5)))]

    def drop_top(self, kinds: Kinds) -> list[Op]:
        """Drop a value."""
        return drop(kinds[-1]) if kinds else [Op("NOP")]

    def begin_call(self, kinds: Kinds) -> list[Op]:
        """Push what a later call is to call."""
        function = self.observed()
        if self.chance.random() < 0.3:
            return [self.observed(), Op("LOAD_METHOD", self.chance.choice(ATTRIBUTES))]
        if not self.pairs:
            return [function]
        if self.chance.random() < 0.15:
            return [function, self.value()]
        return [function, Op("NULL")] if self.above else [Op("NULL"), function]

    def call(self, kinds: Kinds) -> list[Op]:
        """Call what is on the stack, or something with its top."""
        counts = [count for count in range(min(4, len(kinds))) if self.is_callee(kinds[: len(kinds) - count])]
        if counts:
            return self.call_with(kinds, self.chance.choice(counts))
        if not kinds or not is_value(kinds[-1]):
            return [*self.begin_call(kinds), self.value(), *self.call_plain(1)]
        function = self.observed()
        if not self.pairs:
            return [function, Op("SWAP", 2), *self.call_plain(1)]
        pair = [function, Op("NULL")] if self.above else [Op("NULL"), function]
        return [*pair, Op("ROT", 3), Op("ROT", 3), *self.call_plain(1)]

    def call_plain(self, count: int) -> list[Op]:
        """Call with positional arguments; the result is often dropped."""
        op = Op("CALL", (count, self.shape if self.pairs else "plain"))
        return [op, Op("POP")] if self.chance.random() < 0.5 else [op]

    def is_callee(self, kinds: Kinds) -> bool:
        """Return whether the top may be called."""
        if len(kinds) > 1 and kinds[-2:] == ("m", "s"):
            return True
        if not self.pairs:
            return bool(kinds) and kinds[-1] == "o"
        pair = kinds[-2:] if self.above else kinds[:-3:-1]
        return len(pair) == 2 and pair[0] in "of" and pair[1] == "n"

    def call_with(self, kinds: Kinds, count: int) -> list[Op]:
        """Call something prepared, with so many values that lie above it."""
        is_method = kinds[len(kinds) - count - 1] == "s"
        shape = self.shape if self.pairs or is_method else "plain"
        pick = self.chance.random()
        if pick < 0.2 and not (is_method and not self.pairs):
            names = self.chance.choice((("k",), ("k", "m"), ("m",)))
            return [Op("CALL_KW", (count, shape, names))] if len(names) <= count else [Op("CALL", (count, shape))]
        if pick < 0.4 and not is_method:
            has_words = self.chance.random() < 0.4
            words = self.keyed("k") if has_words else []
            return [
                Op(self.chance.choice(("BUILD_TUPLE", "BUILD_LIST")), count),
                *words,
                Op("CALL_EX", (has_words, shape)),
            ]
        return [Op("CALL", (count, shape))]

    def attribute(self, kinds: Kinds) -> list[Op]:
        """Read, write or delete an attribute."""
        name = self.chance.choice(ATTRIBUTES)
        kind = self.chance.choice(("LOAD_ATTR", "STORE_ATTR", "DELETE_ATTR"))
        return (
            [self.observed(), Op(kind, name)] if kind != "LOAD_ATTR" or self.chance.random() < 0.5 else [Op(kind, name)]
        )

    def operator(self, kinds: Kinds) -> list[Op]:
        """Apply an operator."""
        pick = self.chance.random()
        if pick < 0.15:
            return [Op("UNARY", self.pick("-", "~"))]
        left = [] if self.chance.random() < 0.6 else [self.observed()]
        if pick < 0.55:
            name = self.chance.choice(("BINARY", "BINARY", "INPLACE"))
            return [*left, self.value(), Op(name, self.chance.choice(OPERATORS))]
        if pick < 0.8:
            return [*left, self.value(), Op("COMPARE", self.chance.choice(COMPARISONS))]
        if pick < 0.9:
            return [self.observed(), Op("CONTAINS", self.chance.random() < 0.5)]
        return [Op("CONST", None), Op("IS", self.chance.random() < 0.5)]

    def subscript(self, kinds: Kinds) -> list[Op]:
        """Read, write or delete an item."""
        index = [self.value()]
        if self.chance.random() < 0.2:
            index = [Op("CONST", 0), Op("CONST", self.pick(None, 1)), Op("BUILD_SLICE", 2)]
        kind = self.chance.choice(("LOAD_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR"))
        owner = [] if self.chance.random() < 0.5 else [self.observed()]
        return [*owner, *index, Op(kind)]

    def build(self, kinds: Kinds) -> list[Op]:
        """Make a container of what is there."""
        count = self.chance.randint(0, min(3, len(kinds)))
        name = self.chance.choice(
            ("BUILD_TUPLE", "BUILD_LIST", "BUILD_LIST", "BUILD_SET", "BUILD_MAP", "keys", "slice")
        )
        if name == "keys":
            return (
                [Op("BUILD_CONST_KEY_MAP", KEYS[:count])] if "BUILD_CONST_KEY_MAP" in self.opcodes else self.keyed("k")
            )
        if name == "slice":
            return [Op("BUILD_SLICE", self.pick(2, 3))]
        if name == "BUILD_MAP":
            return (
                [Op("CONST", "k"), self.value(), Op(name, 1)] if self.chance.random() < 0.5 else [Op(name, count // 2)]
            )
        return [Op(name, count)]

    def grow(self, kinds: Kinds) -> list[Op]:
        """Add to a container on the stack."""
        collections = [(depth, kind) for depth, kind in enumerate(reversed(kinds), 1) if kind in ("L", "D", "S")]
        if not collections:
            return [Op("BUILD_LIST", 0)]
        depth, kind = self.chance.choice(collections)
        values = [self.value()] if self.chance.random() < 0.6 or depth == 1 else []
        place = depth if values else depth - 1
        if kind == "D":
            pair = [Op("CONST", "m"), self.value(), Op("MAP_ADD", depth)]
            return self.pick(pair, [*self.keyed("n"), Op("DICT_UPDATE", depth)])  # type: ignore[return-value]
        if kind == "S":
            return [*values, Op("SET_ADD", place)]
        if self.chance.random() < 0.4:
            return [self.value(), Op(self.chance.choice(("BUILD_LIST", "BUILD_TUPLE")), 1), Op("LIST_EXTEND", depth)]
        return [*values, Op("LIST_APPEND", place)]

    def unpack(self, kinds: Kinds) -> list[Op]:
        """Take a sequence apart."""
        if self.chance.random() < 0.3:
            return [Op("LIST_TO_TUPLE")]
        if self.chance.random() < 0.7:
            return [self.value(), self.value(), Op("BUILD_TUPLE", 2), Op("UNPACK_SEQUENCE", 2)]
        if self.chance.random() < 0.5:
            return [Op("UNPACK_SEQUENCE", self.pick(1, 2))]
        return [Op("UNPACK_EX", self.pick((1, 0), (0, 1), (1, 1), (0, 0)))]

    def cells(self, kinds: Kinds) -> list[Op]:
        """Use a cell or free variable."""
        name = self.chance.choice((*CELLS, *FREE))
        kind = self.chance.choice(("LOAD_DEREF", "STORE_DEREF", "STORE_DEREF", "LOAD_CLOSURE", "DELETE_DEREF"))
        if kind == "LOAD_CLOSURE" and self.chance.random() < 0.6:
            return [Op("MAKE_FUNCTION", (8, 1))]
        return [Op(kind, name)]

    def globals(self, kinds: Kinds) -> list[Op]:
        """Use a global."""
        return [Op(self.chance.choice(("LOAD_GLOBAL", "STORE_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL")), "s")]

    def text(self, kinds: Kinds) -> list[Op]:
        """Format."""
        conversion = self.pick(None, None, "s", "r")
        if self.chance.random() < 0.3:
            return [self.observed(), Op("CONST", "k"), Op("FORMAT", (True, conversion))]
        if self.chance.random() < 0.4:
            return [Op("CONST", "text"), self.observed(), Op("FORMAT", (False, conversion)), Op("BUILD_STRING", 2)]
        return [Op("FORMAT", (False, conversion))]

    def function(self, kinds: Kinds) -> list[Op]:
        """Make a function."""
        number = self.chance.randrange(len(FREE_VARIABLES))
        flags = 8 if FREE_VARIABLES[number] else 0
        ops: list[Op] = []
        if self.chance.random() < 0.4:
            flags, ops = flags | 1, [*ops, self.value(), Op("BUILD_TUPLE", 1)]
        if self.chance.random() < 0.3:
            flags, ops = flags | 2, [*ops, *self.keyed("q")]
        if self.chance.random() < 0.3 and "LOAD_COMMON_CONSTANT" not in self.opcodes:
            # Where annotations are evaluated when asked for, no source evaluates them here.
            flags, ops = flags | 4, [*ops, Op("CONST", "p"), self.value(), Op("BUILD_TUPLE", 2)]
        return [*ops, Op("MAKE_FUNCTION", (flags, number))]

    def imports(self, kinds: Kinds) -> list[Op]:
        """Import."""
        if self.chance.random() < 0.5:
            return [Op("IMPORT_NAME", (self.pick("one", "one.two"), None))]
        return [Op("IMPORT_NAME", ("one", ("n",))), Op("IMPORT_FROM", "n"), Op("STORE_FAST", "x"), Op("POP")]

    def truth(self, kinds: Kinds) -> list[Op]:
        """Ask for the truth of a value."""
        return [Op("TO_BOOL" if "TO_BOOL" in self.opcodes and self.chance.random() < 0.5 else "NOT")]

    def iterate(self, kinds: Kinds) -> list[Op]:
        """Take an iterator."""
        return [self.observed(), Op("GET_ITER")] if self.chance.random() < 0.7 else [Op("GET_ITER")]


def drop(kind: str) -> list[Op]:
    """Return operations that take a value of a kind from the stack."""
    if kind in "nu":
        return [Op("STORE_FAST", "w")]
    if kind == "p":
        return [Op("POP_EXCEPT")]
    return [Op("POP")]
