"""From a program to a code object of the running interpreter."""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable
from typing import Any

from depyf.bytecode.code import CO_GENERATOR, CO_NESTED, CO_NEWLOCALS, CO_OPTIMIZED
from depyf.bytecode.versions.known import FACTS
from depyf.bytecode.versions.v3_7 import OPERATORS
from tools.fuzz.effects import FIXED, FREE_VARIABLES, apply, leave
from tools.fuzz.encode import Word, encode, exception_table, line_table
from tools.fuzz.program import Exit, Kinds, Op, Program

VARIABLES = ("a", "b", "c", "x", "y", "z", "w")
CELLS = ("k", "kk")
FREE = ("fr",)
NUMBER = {"-": "UNARY_NEGATIVE", "~": "UNARY_INVERT"}
CONVERSIONS = (None, "s", "r", "a")
SAME = frozenset(
    "NOP DELETE_SUBSCR PUSH_EXC_INFO POP_EXCEPT CHECK_EXC_MATCH LIST_TO_TUPLE STORE_SUBSCR GET_ITER".split()
)
COUNTED = frozenset(
    "COPY SWAP BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_STRING BUILD_SLICE BUILD_MAP LIST_APPEND LIST_EXTEND SET_ADD "
    "SET_UPDATE MAP_ADD DICT_UPDATE UNPACK_SEQUENCE".split()
)
NAMED = frozenset("STORE_GLOBAL DELETE_GLOBAL STORE_ATTR DELETE_ATTR IMPORT_FROM".split())


def replaced(code: types.CodeType, **changes: Any) -> types.CodeType:  # noqa: ANN401  (of many types)
    """Return a code object with other fields, those that this version has not left out."""
    return code.replace(**{name: value for name, value in changes.items() if hasattr(code, name)})


def inner_codes() -> list[types.CodeType]:
    """Return the nested functions, by index; each has so many free variables as FREE_VARIABLES says."""

    def around(k: object, kk: object) -> list[Callable[..., object]]:
        def none(p: object = 1, *, q: object = 2) -> object:
            return g(p, q)  # type: ignore[name-defined]  # noqa: F821

        def one(p: object = 1, *, q: object = 2) -> object:
            return k, p

        def two(p: object = 1, *, q: object = 2) -> object:
            nonlocal k
            k = kk
            return k, q

        return [none, one, two]

    return [function.__code__ for function in around(1, 2)]


INNER = [replaced(code, co_qualname=f"f.<locals>.{code.co_name}") for code in inner_codes()]
assert tuple(len(code.co_freevars) for code in INNER) == FREE_VARIABLES


class Lowering:
    """The words of one code object and its tables, as they grow."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.facts = FACTS[program.version]
        self.opcodes = frozenset(self.facts.table.opcodes.values())
        self.chance = random.Random(program.noise)
        self.words: list[Word] = []
        self.consts: list[object] = [None]
        self.names: list[str] = []
        self.pending: list[int] = []
        self.region = -1
        self.labels = len(program.blocks)
        self.pads: list[tuple[int, Kinds, str, int]] = []
        self.depth = 0

    def put(self, name: str, arg: int = 0, target: int | None = None) -> None:
        """Add an instruction."""
        prefixes = 1 if self.chance.random() < 0.01 else 0
        self.words.append(Word(name, arg, target, tuple(self.pending), prefixes, self.region))
        self.pending.clear()

    def const(self, value: object) -> int:
        """Return the index of a constant."""
        for place, known in enumerate(self.consts):
            if known is value or (type(known) is type(value) and repr(known) == repr(value)):
                return place
        self.consts.append(value)
        return len(self.consts) - 1

    def name(self, name: str) -> int:
        """Return the index of a name."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def slot(self, name: str) -> int:
        """Return the index of a cell or free variable for LOAD_DEREF."""
        cells = (*CELLS, *FREE)
        return cells.index(name) + (len(VARIABLES) if self.facts.shared_slots else 0)

    def has(self, name: str) -> bool:
        """Tell whether the version has an opcode."""
        return name in self.opcodes

    def load(self, value: object) -> None:
        """Load a constant, in one of the ways there are."""
        if self.has("LOAD_SMALL_INT") and type(value) is int and 0 <= value < 256 and self.chance.random() < 0.7:
            self.put("LOAD_SMALL_INT", value)
        else:
            self.put("LOAD_CONST", self.const(value))

    def jump(self, here: int, target: int) -> None:
        """Jump, forwards or back; here: how many blocks have been laid out."""
        if self.has("JUMP_ABSOLUTE"):
            self.put("JUMP_ABSOLUTE", target=target)
        elif self.is_back(target):
            self.put("JUMP_BACKWARD", target=target)
        else:
            self.put("JUMP_FORWARD", target=target)

    def is_back(self, target: int) -> bool:
        """Tell whether a label has been placed."""
        return target in self.pending or any(target in word.labels for word in self.words)

    def new_label(self) -> int:
        """Return a label."""
        self.labels += 1
        return self.labels - 1

    def pad(self, kinds: Kinds, kind: str, target: int) -> int:
        """Return the label of a few instructions at the end of the code: `loop` end, `fuel` end, or `jump`."""
        label = self.new_label()
        self.pads.append((label, kinds, kind, target))
        return label


def lower(program: Program) -> types.CodeType:
    """Return the code object. Raises Invalid for a program that the interpreter would not survive."""
    low = Lowering(program)
    prologue(low)
    for place, index in enumerate(program.order):
        lower_block(low, index, program.order[place + 1] if place + 1 < len(program.order) else None)
    low.region = -1
    for label, kinds, kind, target in low.pads:
        low.pending.append(label)
        lower_pad(low, kinds, kind, target)
    stop = guard_generator(low)
    data, labels, starts = encode(low.words, low.facts)
    handlers = [(labels[region.target], len(region.kept), region.lasti) for region in program.regions]
    handlers += [(labels[stop], 0, True)] if stop >= 0 else []
    table = exception_table(low.words, starts, handlers) if low.facts.exceptions == "table" else b""
    return finished(low, data, table)


def guard_generator(low: Lowering) -> int:
    """Put all that nothing protects under the handler that generators of newer versions have; return its label."""
    if not low.program.generator or not low.has("CALL_INTRINSIC_1"):
        return -1
    begin = next(place for place, word in enumerate(low.words) if word.name == "RESUME")
    for word in low.words[begin:]:
        word.region = len(low.program.regions) if word.region < 0 else word.region
    label = low.new_label()
    low.pending.append(label)
    low.put("CALL_INTRINSIC_1", low.facts.table.intrinsics_1.index("INTRINSIC_STOPITERATION_ERROR"))
    low.put("RERAISE", 1)
    return label


def finished(low: Lowering, data: bytes, table: bytes) -> types.CodeType:
    """Return the code object of bytes and tables."""

    def sample(a: object, b: object, c: object) -> None: ...

    return replaced(
        sample.__code__,
        co_code=data,
        co_consts=tuple(low.consts),
        co_names=tuple(low.names),
        co_varnames=VARIABLES,
        co_nlocals=len(VARIABLES),
        co_cellvars=CELLS,
        co_freevars=FREE,
        co_stacksize=low.depth + 6,
        co_flags=CO_OPTIMIZED | CO_NEWLOCALS | CO_NESTED | (CO_GENERATOR if low.program.generator else 0),
        co_name="f",
        co_qualname="f",
        co_filename="<fuzz>",
        co_firstlineno=1,
        co_linetable=line_table(low.facts, len(data) // 2),
        co_exceptiontable=table,
    )


def prologue(low: Lowering) -> None:
    """Write what makes cells and the generator."""
    if low.has("COPY_FREE_VARS"):
        low.put("COPY_FREE_VARS", len(FREE))
        for number in range(len(CELLS)):
            low.put("MAKE_CELL", len(VARIABLES) + number)
    if low.program.generator:
        if low.has("RETURN_GENERATOR"):
            low.put("RETURN_GENERATOR")
            low.put("POP_TOP")
        else:
            low.put("GEN_START")
    if low.has("RESUME"):
        low.put("RESUME")


def lower_block(low: Lowering, index: int, following: int | None) -> None:
    """Write a block; `following` is the one laid out after it."""
    program = low.program
    block = program.blocks[index]
    low.region = block.region
    low.pending.append(index)
    kinds = block.entry
    if block.fuel:
        ask_for_fuel(low, kinds)
    for place, op in enumerate(block.ops):
        low.depth = max(low.depth, len(kinds))
        after = apply(program, block.region, kinds, op.name, op.arg)
        if low.chance.random() < 0.02:
            low.put("NOP" if low.chance.random() < 0.5 or not low.has("RESUME") else "RESUME")
        lower_op(low, op, block.ops[place + 1] if place + 1 < len(block.ops) else None)
        kinds = after
    low.depth = max(low.depth, len(kinds) + 1)
    ways = leave(program, block.region, kinds, block.exit)
    lower_exit(low, block.exit, kinds, ways, following)


def ask_for_fuel(low: Lowering, kinds: Kinds) -> None:
    """Leave if there is no fuel."""
    lower_op(low, Op("LOAD_GLOBAL", "fuel"), None)
    call_top(low)
    branch(low, "true", low.pad(kinds, "fuel", -1), bool_already=True)


def call_top(low: Lowering) -> None:
    """Call what lies on the stack, without arguments."""
    if not low.has("PUSH_NULL"):
        low.put("CALL_FUNCTION")
        return
    low.put("PUSH_NULL")
    if not low.facts.null_above:
        low.put("SWAP", 2)
    if low.has("PRECALL"):
        low.put("PRECALL")
    low.put("CALL")


def lower_pad(low: Lowering, kinds: Kinds, kind: str, target: int) -> None:
    """Write instructions that stand at the end of the code."""
    if kind == "loop":
        if low.has("END_FOR"):
            low.put("END_FOR")
        if low.has("POP_ITER"):
            low.put("POP_ITER")
        elif low.has("TO_BOOL"):
            low.put("POP_TOP")
        low.jump(0, target)
    elif kind == "jump":
        low.jump(0, target)
    else:
        last = max((place for place, kind in enumerate(kinds) if kind == "p"), default=len(kinds))
        for kind in reversed(kinds[last:]):
            if kind == "p":
                low.put("POP_EXCEPT")
            elif kind in "nu":
                low.put("STORE_FAST", VARIABLES.index("w"))
            else:
                low.put("POP_TOP")
        low.put("LOAD_CONST", low.const("no fuel"))
        low.put("RETURN_VALUE")


def lower_op(low: Lowering, op: Op, following: Op | None) -> None:
    """Write one operation."""
    name, arg = op.name, op.arg
    if name in SPECIAL:
        SPECIAL[name](low, arg)
    elif name in COUNTED and low.has(name):
        assert isinstance(arg, int)
        low.put(name, arg)
    elif name in NAMED:
        low.put(name, low.name(str(arg)))
    elif name in SAME and low.has(name):
        low.put(name)
    elif name in ("DELETE_FAST", "STORE_FAST"):
        low.put(name, VARIABLES.index(str(arg)))
    elif name in ("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"):
        low.put(name, low.slot(str(arg)))
    else:
        raise AssertionError(f"{name} has no encoding")


def _load_fast(low: Lowering, arg: str) -> None:
    checked = low.has("LOAD_FAST_CHECK") and arg != FIXED
    low.put("LOAD_FAST_CHECK" if checked else "LOAD_FAST", VARIABLES.index(arg))


def _take(low: Lowering, arg: str) -> None:
    low.put("STORE_FAST", VARIABLES.index(arg))
    low.put("LOAD_FAST_AND_CLEAR", VARIABLES.index(arg))


def _load_closure(low: Lowering, arg: str) -> None:
    low.put("LOAD_CLOSURE" if low.has("LOAD_CLOSURE") else "LOAD_FAST", low.slot(arg))


def _load_global(low: Lowering, arg: str) -> None:
    low.put("LOAD_GLOBAL", low.name(arg) << (1 if low.facts.shared_slots else 0))


def _load_attr(low: Lowering, arg: str) -> None:
    low.put("LOAD_ATTR", low.name(arg) << (0 if low.has("LOAD_METHOD") else 1))


def _load_method(low: Lowering, arg: str) -> None:
    if low.has("LOAD_METHOD"):
        low.put("LOAD_METHOD", low.name(arg))
    else:
        low.put("LOAD_ATTR", low.name(arg) << 1 | 1)


def _copy(low: Lowering, arg: int) -> None:
    low.put("COPY", arg) if low.has("COPY") else low.put("DUP_TOP")


def _restore(low: Lowering, arg: int) -> None:
    low.put("COPY", arg)
    low.put("POP_EXCEPT")


def _swap(low: Lowering, arg: int) -> None:
    low.put("SWAP", arg) if low.has("SWAP") else low.put("ROT_TWO")


def _rotate(low: Lowering, arg: int) -> None:
    if low.has("ROT_N"):
        low.put({2: "ROT_TWO", 3: "ROT_THREE", 4: "ROT_FOUR"}.get(arg, "ROT_N"), arg if arg > 4 else 0)
    else:
        for depth in range(arg, 1, -1):
            low.put("SWAP", depth)


def _operator(low: Lowering, arg: str, inplace: bool) -> None:
    if low.has("BINARY_OP"):
        low.put("BINARY_OP", low.facts.table.binary.index(arg + "=" if inplace else arg))
    else:
        word = next(word for word, symbol in OPERATORS.items() if symbol == arg)
        low.put(("INPLACE_" if inplace else "BINARY_") + word)


def _compare(low: Lowering, arg: str) -> None:
    shift = 5 if low.has("TO_BOOL") else 4 if low.has("RETURN_CONST") else 0
    low.put("COMPARE_OP", low.facts.table.compare.index(arg) << shift)


def _subscript(low: Lowering, arg: object) -> None:
    if low.has("BINARY_SUBSCR"):
        low.put("BINARY_SUBSCR")
    else:
        low.put("BINARY_OP", low.facts.table.binary.index("[]"))


def _key_map(low: Lowering, arg: tuple[str, ...]) -> None:
    low.put("LOAD_CONST", low.const(arg))
    low.put("BUILD_CONST_KEY_MAP", len(arg))


def _list_to_tuple(low: Lowering, arg: object) -> None:
    if low.has("LIST_TO_TUPLE"):
        low.put("LIST_TO_TUPLE")
    else:
        low.put("CALL_INTRINSIC_1", low.facts.table.intrinsics_1.index("INTRINSIC_LIST_TO_TUPLE"))


def _unpack_ex(low: Lowering, arg: tuple[int, int]) -> None:
    low.put("UNPACK_EX", arg[0] | arg[1] << 8)


def _format(low: Lowering, arg: tuple[bool, str | None]) -> None:
    with_spec, conversion = arg
    if low.has("FORMAT_VALUE"):
        low.put("FORMAT_VALUE", CONVERSIONS.index(conversion) | 4 * with_spec)
        return
    if conversion is not None and with_spec:
        low.put("SWAP", 2)
    if conversion is not None:
        low.put("CONVERT_VALUE", CONVERSIONS.index(conversion))
    if conversion is not None and with_spec:
        low.put("SWAP", 2)
    low.put("FORMAT_WITH_SPEC" if with_spec else "FORMAT_SIMPLE")


def _call(low: Lowering, arg: tuple[int, str]) -> None:
    if arg[1] == "plain":
        low.put("CALL_FUNCTION", arg[0])
    elif low.has("CALL_METHOD"):
        low.put("CALL_METHOD", arg[0])
    else:
        if low.has("PRECALL"):
            low.put("PRECALL", arg[0])
        low.put("CALL", arg[0])


def _call_keywords(low: Lowering, arg: tuple[int, str, tuple[str, ...]]) -> None:
    count, _, names = arg
    if low.has("KW_NAMES"):
        low.put("KW_NAMES", low.const(names))
        if low.has("PRECALL"):
            low.put("PRECALL", count)
        low.put("CALL", count)
    else:
        low.put("LOAD_CONST", low.const(names))
        low.put("CALL_KW" if low.has("CALL_KW") else "CALL_FUNCTION_KW", count)


def _call_unpacked(low: Lowering, arg: tuple[bool, str]) -> None:
    if low.has("LOAD_SPECIAL") and not arg[0]:
        low.put("PUSH_NULL")
    low.put("CALL_FUNCTION_EX", int(arg[0]))


def _make_function(low: Lowering, arg: tuple[int, int]) -> None:
    flags, number = arg
    if flags & 8:
        for name in INNER[number].co_freevars:
            _load_closure(low, name)
        low.put("BUILD_TUPLE", FREE_VARIABLES[number])
        low.depth += 2
    low.put("LOAD_CONST", low.const(INNER[number]))
    if low.has("SET_FUNCTION_ATTRIBUTE"):
        low.put("MAKE_FUNCTION")
        for flag in (8, 4, 2, 1):
            if flags & flag:
                low.put("SET_FUNCTION_ATTRIBUTE", flag)
        return
    if not low.has("RESUME"):
        low.put("LOAD_CONST", low.const(f"f.<locals>.{INNER[number].co_name}"))
    low.put("MAKE_FUNCTION", flags)


def _import_name(low: Lowering, arg: tuple[str, tuple[str, ...] | None]) -> None:
    low.load(0)
    low.put("LOAD_CONST", low.const(arg[1]))
    low.put("IMPORT_NAME", low.name(arg[0]) << (2 if low.program.version >= (3, 15) else 0))


def _yield(low: Lowering, arg: object) -> None:
    # One number is how deeply protected a yield is, another what it delegates to; neither is known here.
    low.put("YIELD_VALUE", 2 if low.has("RETURN_CONST") and not low.has("TO_BOOL") else 0)
    if low.has("RESUME"):
        low.put("RESUME", 1)


SPECIAL: dict[str, Callable[[Lowering, Any], None]] = {
    "RESUME": lambda low, arg: low.put("RESUME" if low.has("RESUME") else "NOP"),
    "CONST": lambda low, arg: low.load(arg),
    "NULL": lambda low, arg: low.put("PUSH_NULL"),
    "POP": lambda low, arg: low.put("POP_TOP"),
    "COPY": _copy,
    "SWAP": _swap,
    "ROT": _rotate,
    "RESTORE": _restore,
    "LOAD_FAST": _load_fast,
    "TAKE": _take,
    "LOAD_CLOSURE": _load_closure,
    "LOAD_GLOBAL": _load_global,
    "LOAD_ATTR": _load_attr,
    "LOAD_METHOD": _load_method,
    "LOAD_SUBSCR": _subscript,
    "UNARY": lambda low, arg: low.put(NUMBER[arg]),
    "NOT": lambda low, arg: negate(low),
    "BINARY": lambda low, arg: _operator(low, arg, False),
    "INPLACE": lambda low, arg: _operator(low, arg, True),
    "COMPARE": _compare,
    "IS": lambda low, arg: low.put("IS_OP", int(arg)),
    "CONTAINS": lambda low, arg: low.put("CONTAINS_OP", int(arg)),
    "TO_BOOL": lambda low, arg: low.put("TO_BOOL"),
    "BUILD_CONST_KEY_MAP": _key_map,
    "LIST_TO_TUPLE": _list_to_tuple,
    "UNPACK_EX": _unpack_ex,
    "FORMAT": _format,
    "CALL": _call,
    "CALL_KW": _call_keywords,
    "CALL_EX": _call_unpacked,
    "MAKE_FUNCTION": _make_function,
    "IMPORT_NAME": _import_name,
    "YIELD": _yield,
}


def negate(low: Lowering) -> None:
    """Write `not`, which newer versions do to a bool only."""
    if low.has("TO_BOOL"):
        low.put("TO_BOOL")
    low.put("UNARY_NOT")


def lower_exit(low: Lowering, exit_: Exit, kinds: Kinds, ways: list[Kinds], following: int | None) -> None:
    """Write the end of a block."""
    if exit_.kind == "goto":
        if exit_.targets[0] != following or low.chance.random() < 0.05:
            low.jump(0, exit_.targets[0])
        return
    if exit_.kind == "return":
        low.put("RETURN_VALUE")
    elif exit_.kind == "raise":
        low.put("RAISE_VARARGS", exit_.arg)
    elif exit_.kind == "reraise":
        low.put("RERAISE", exit_.arg)
    elif exit_.kind == "for":
        target = exit_.targets[0]
        plain = not low.has("END_FOR") and not low.is_back(target)
        low.put("FOR_ITER", target=target if plain else low.pad(ways[0], "loop", target))
    else:
        branch(low, exit_.kind, exit_.targets[0], bool_already=kinds[-1] == "b")
    if len(exit_.targets) == 2 and exit_.targets[1] != following:
        low.jump(0, exit_.targets[1])


def branch(low: Lowering, kind: str, target: int, *, bool_already: bool) -> None:
    """Write a conditional jump, in one of the ways there are."""
    if low.has("TO_BOOL") and kind in ("true", "false") and not bool_already:
        low.put("TO_BOOL")
    is_back = low.is_back(target)
    if kind.endswith("_or_pop"):
        name = f"JUMP_IF_{kind.upper()}"
        low.put(name, target=low.pad((), "jump", target) if is_back and not low.has("JUMP_ABSOLUTE") else target)
        return
    when = kind.upper()
    if low.has("POP_JUMP_FORWARD_IF_TRUE"):
        way = "BACKWARD" if is_back else "FORWARD"
        low.put(f"POP_JUMP_{way}_IF_{when}", target=target)
    elif is_back and not low.has("JUMP_ABSOLUTE"):
        low.put(f"POP_JUMP_IF_{when}", target=low.pad((), "jump", target))
    else:
        low.put(f"POP_JUMP_IF_{when}", target=target)


def running() -> tuple[int, int]:
    """Return the version of the running interpreter."""
    return sys.version_info[0], sys.version_info[1]
