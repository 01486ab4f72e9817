"""What an operation does to the kinds on the stack, and whether it may stand there at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from depyf.bytecode.operations import OPERATIONS
from tests.quality.fuzz import groups, managers, suspending
from tests.quality.fuzz.program import FREE_VARIABLES, Exit, Kinds, Program, fits, is_value, may_stand
from tests.quality.fuzz.stack import Invalid, Stack

UNMOVED = "pmsuqxyza"
"""Kinds that stay where they are on the stack."""
FIXED = "a"
"""The parameter that is never assigned."""


def kind_of(value: object) -> str:
    """Return the kind of a constant."""
    if value is None:
        return "N"
    return {bool: "b", str: "t", tuple: "T"}.get(type(value), "v")


def simple(takes: str, gives: str) -> Callable[[Stack, Any], None]:
    """Return the effect of taking certain kinds, the lowest first, and leaving certain others."""

    def effect(stack: Stack, arg: object) -> None:
        for want in reversed(takes.split()):
            stack.pop(want)
        stack.push(*gives.split())

    return effect


def load_const(stack: Stack, arg: object) -> None:
    """CONST."""
    stack.push(kind_of(arg))


def copy(stack: Stack, arg: int) -> None:
    """COPY."""
    if not is_value(stack.at(arg)):
        raise Invalid
    stack.push(stack.at(arg))


def pop(stack: Stack, arg: object) -> None:
    """POP."""
    if stack.kinds and stack.kinds[-1] in "qlxyza":
        stack.kinds.pop()
        stack.lowest = min(stack.lowest, len(stack.kinds))
    else:
        stack.pop()


def restore(stack: Stack, arg: int) -> None:
    """Handle again what was being handled before: a copy of it is popped, and it stays as a value of no use."""
    if stack.at(arg) != "p" or "p" in stack.kinds[len(stack.kinds) - arg + 1 :]:
        raise Invalid
    stack.kinds[-arg] = "q"


def swap(stack: Stack, arg: int) -> None:
    """SWAP."""
    if arg < 2 or stack.at(arg) in UNMOVED or stack.at(1) in UNMOVED:
        raise Invalid
    kinds = stack.kinds
    kinds[-1], kinds[-arg] = kinds[-arg], kinds[-1]


def rotate(stack: Stack, arg: int) -> None:
    """Put the top below `arg - 1` others."""
    if arg < 2 or any(stack.at(depth) in UNMOVED for depth in range(1, arg + 1)):
        raise Invalid
    stack.kinds.insert(len(stack.kinds) - arg, stack.kinds.pop())


def load_fast(stack: Stack, arg: str) -> None:
    """LOAD_FAST."""
    stack.push("o" if arg == FIXED else "v")


def store_fast(stack: Stack, arg: str) -> None:
    """STORE_FAST; a null only where a variable has been cleared."""
    if arg == FIXED:
        raise Invalid
    stack.pop("vn")


def no_fixed(stack: Stack, arg: str) -> None:
    """DELETE_FAST."""
    if arg == FIXED:
        raise Invalid


def take(stack: Stack, arg: str) -> None:
    """STORE_FAST and LOAD_FAST_CLEAR: through a variable that is unbound then."""
    no_fixed(stack, arg)
    stack.push(stack.pop())


def binary(stack: Stack, arg: object) -> None:
    """BINARY: of an observed value and another."""
    if "o" not in stack.values(2):
        raise Invalid
    stack.push("o")


def identity(stack: Stack, arg: object) -> None:
    """IS: of values whose identity the language fixes."""
    if not set(stack.values(2)) <= {"o", "N"}:
        raise Invalid
    stack.push("b")


def subscript(stack: Stack, arg: object) -> None:
    """LOAD_SUBSCR."""
    stack.pop()
    stack.push("o" if stack.pop("oLTD") == "o" else "v")


def store_subscript(stack: Stack, arg: object) -> None:
    """STORE_SUBSCR."""
    stack.pop()
    stack.pop("oLD")
    stack.pop()


def delete_subscript(stack: Stack, arg: object) -> None:
    """DELETE_SUBSCR."""
    stack.pop()
    stack.pop("oLD")


def build_tuple(stack: Stack, arg: int) -> None:
    """BUILD_TUPLE."""
    kinds = stack.values(arg)
    stack.push(f"C{arg}" if kinds and set(kinds) == {"c"} else "T")


def build(kind: str) -> Callable[[Stack, Any], None]:
    """Return the effect of making something of as many values as the argument says."""

    def effect(stack: Stack, arg: int) -> None:
        stack.values(arg)
        stack.push(kind)

    return effect


def build_string(stack: Stack, arg: int) -> None:
    """BUILD_STRING."""
    for _ in range(arg):
        stack.pop("t")
    stack.push("t")


def build_map(stack: Stack, arg: int) -> None:
    """BUILD_MAP."""
    stack.values(2 * arg)
    stack.push("D")


def key_map(stack: Stack, arg: tuple[str, ...]) -> None:
    """BUILD_CONST_KEY_MAP, its keys included."""
    stack.values(len(arg))
    stack.push("D")


def extend(kind: str, known: str) -> Callable[[Stack, Any], None]:
    """Return the effect of adding all of a container that runs no code."""

    def effect(stack: Stack, arg: int) -> None:
        stack.pop(known)
        if stack.at(arg) != kind:
            raise Invalid

    return effect


def grow(kind: str, count: int) -> Callable[[Stack, Any], None]:
    """Return the effect of adding to a container further down."""

    def effect(stack: Stack, arg: int) -> None:
        stack.values(count)
        if stack.at(arg) != kind:
            raise Invalid

    return effect


def unpack(stack: Stack, arg: int) -> None:
    """UNPACK_SEQUENCE."""
    stack.pop("oLT")
    stack.push(*["v"] * arg)


def unpack_ex(stack: Stack, arg: tuple[int, int]) -> None:
    """UNPACK_EX."""
    stack.pop("oLT")
    stack.push(*["v"] * arg[1], "L", *["v"] * arg[0])


def format_value(stack: Stack, arg: tuple[bool, str | None]) -> None:
    """FORMAT."""
    if arg[0]:
        stack.pop("t")
    stack.pop()
    stack.push("t")


def callee(stack: Stack, shape: str, *, bare: bool) -> str:
    """Take what is called, and return the kind of its result; bare: it may bring no operand along."""
    upper = stack.pop("o") if shape == "plain" else stack.pop("vns")
    if shape == "plain":
        return "o"
    if upper == "s":
        stack.pop("m")
        if bare:
            raise Invalid
        return "o"
    if upper == "n":
        if shape == "below" or stack.pop("of") not in "of":
            raise Invalid
        return "v"
    lower = stack.pop("on" if upper in "of" else "o")
    if (lower == "n" and shape == "above") or (lower != "n" and bare):
        raise Invalid
    return "v" if lower == "n" and upper == "f" else "o"


def call(stack: Stack, arg: tuple[int, str]) -> None:
    """CALL."""
    stack.values(arg[0])
    stack.push(callee(stack, arg[1], bare=False))


def call_keywords(stack: Stack, arg: tuple[int, str, tuple[str, ...]]) -> None:
    """CALL_KW, its names included."""
    if len(arg[2]) > arg[0]:
        raise Invalid
    stack.values(arg[0])
    stack.push(callee(stack, arg[1], bare=False))


def call_unpacked(stack: Stack, arg: tuple[bool, str]) -> None:
    """CALL_EX."""
    if arg[0]:
        stack.pop("D")
    stack.pop("TLo")
    stack.push(callee(stack, arg[1], bare=True))


def make_function(stack: Stack, arg: tuple[int, int]) -> None:
    """MAKE_FUNCTION: flags, and which code; its closure included."""
    flags, number = arg
    if bool(flags & 8) != bool(FREE_VARIABLES[number]):
        raise Invalid
    for flag, kind in ((4, "T"), (2, "D"), (1, "T")):
        if flags & flag:
            stack.pop(kind)
    stack.push("f")


GLOBALS = {"g": "o", "h": "o", **dict.fromkeys(groups.TYPES, "X")}
"""Globals of which the kind is known."""
EFFECTS: dict[str, Callable[[Stack, Any], None]] = {
    "NOP": simple("", ""),
    "RESUME": simple("", ""),
    "CONST": load_const,
    "NULL": simple("", "n"),
    "POP": pop,
    "COPY": copy,
    "SWAP": swap,
    "ROT": rotate,
    "LOAD_FAST": load_fast,
    "STORE_FAST": store_fast,
    "DELETE_FAST": no_fixed,
    "TAKE": take,
    "LOAD_DEREF": simple("", "v"),
    "STORE_DEREF": simple("v", ""),
    "DELETE_DEREF": simple("", ""),
    "LOAD_CLOSURE": simple("", "c"),
    "LOAD_GLOBAL": lambda stack, arg: stack.push(GLOBALS.get(arg, "v")),
    "STORE_GLOBAL": simple("v", ""),
    "DELETE_GLOBAL": simple("", ""),
    "LOAD_ATTR": simple("o", "o"),
    "STORE_ATTR": simple("v o", ""),
    "DELETE_ATTR": simple("o", ""),
    "LOAD_METHOD": simple("o", "m s"),
    "LOAD_SUBSCR": subscript,
    "STORE_SUBSCR": store_subscript,
    "DELETE_SUBSCR": delete_subscript,
    "UNARY": simple("o", "o"),
    "NOT": simple("v", "b"),
    "BINARY": binary,
    "INPLACE": binary,
    "COMPARE": binary,
    "IS": identity,
    "CONTAINS": simple("v o", "b"),
    "TO_BOOL": simple("v", "b"),
    "BUILD_TUPLE": build_tuple,
    "BUILD_LIST": build("L"),
    "BUILD_SET": build("S"),
    "BUILD_STRING": build_string,
    "BUILD_SLICE": build("v"),
    "BUILD_MAP": build_map,
    "BUILD_CONST_KEY_MAP": key_map,
    "LIST_APPEND": grow("L", 1),
    "LIST_EXTEND": extend("L", "LT"),
    "SET_ADD": grow("S", 1),
    "SET_UPDATE": grow("S", 1),
    "MAP_ADD": grow("D", 2),
    "DICT_UPDATE": extend("D", "D"),
    "LIST_TO_TUPLE": simple("L", "T"),
    "UNPACK_SEQUENCE": unpack,
    "UNPACK_EX": unpack_ex,
    "GET_ITER": simple("v", "i"),
    "FORMAT": format_value,
    "CALL": call,
    "CALL_KW": call_keywords,
    "CALL_EX": call_unpacked,
    "MAKE_FUNCTION": make_function,
    "IMPORT_NAME": simple("", "o"),
    "IMPORT_FROM": simple("o", "o o"),
    "YIELD": simple("v", "v"),
    "PUSH_EXC_INFO": simple("e", "p e"),
    "POP_EXCEPT": simple("p", ""),
    "RESTORE": restore,
    "CHECK_EXC_MATCH": simple("e X", "e b"),
    "ENTER": managers.enter(False),
    "ENTER_ASYNC": managers.enter(True),
    "LEAVE": managers.leave,
    "WITH_EXCEPT_START": managers.ask_exit,
    "ANEXT": suspending.await_next,
    **groups.EFFECTS,
    **{name: simple(*what) for name, what in suspending.SIMPLE.items()},
}
QUIET = frozenset({"NOP", "RESUME", "ROT", "DELETE_FAST", "RESTORE", "TAKE", "KNOW"}) | {
    name for name, operation in OPERATIONS.items() if not operation.raises
}
"""Operations after which nothing is left to do, whatever was being handled: they do not raise."""


def may_raise(name: str, arg: object) -> bool:
    """Return whether an operation can raise."""
    if name == "LOAD_FAST":
        return arg != FIXED
    return name not in QUIET or name == "DELETE_FAST"


def apply(program: Program, region: int, kinds: Kinds, name: str, arg: object) -> Kinds:
    """Return what lies on the stack after an operation in a region.

    Raises Invalid if it may not stand there.
    """
    if not may_stand(program, suspending.MODES.get(name)):
        raise Invalid
    stack = Stack(kinds)
    EFFECTS[name](stack, arg)
    check_region(program, region, kinds, stack, raises=may_raise(name, arg))
    return tuple(stack.kinds)


def check_region(program: Program, region: int, before: Kinds, stack: Stack, *, raises: bool) -> None:
    """Demand that the handler of a region finds what it wants, and that no exception passes one being handled."""
    kept = program.regions[region].kept if region >= 0 else ()
    if stack.lowest < len(kept) or not all(map(fits, stack.kinds, kept)):
        raise Invalid
    if raises and "p" in before[len(kept) :]:
        raise Invalid


def leave(program: Program, region: int, kinds: Kinds, exit_: Exit) -> list[Kinds]:
    """Return what lies on the stack on each way out of a block.

    Raises Invalid if the exit may not stand there.
    """
    stack = Stack(kinds)
    ways: list[Kinds] = []
    match exit_.kind:
        case "goto":
            ways = [tuple(stack.kinds)]
        case "true" | "false" | "none" | "not_none":
            stack.pop()
            ways = [tuple(stack.kinds)] * 2
        case "true_or_pop" | "false_or_pop":
            stack.pop()
            ways = [kinds, tuple(stack.kinds)]
        case "for":
            stack.pop("i")
            ways = [tuple(stack.kinds), (*kinds, "v")]
        case "return":
            stack.pop()
            if "p" in kinds:
                raise Invalid
        case "reraise":
            stack.pop("e")
            if exit_.arg and stack.at(exit_.arg) != "l":
                raise Invalid
        case "raise":
            for _ in range(exit_.arg):
                stack.pop("eX")
    after = Stack(kinds)
    after.lowest = len(kinds) if exit_.kind == "return" else stack.lowest
    raises = exit_.kind not in ("goto", "return", "none", "not_none")
    check_region(program, region, kinds, after, raises=raises)
    return ways
