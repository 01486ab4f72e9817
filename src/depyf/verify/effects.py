"""The effect of operations on the stack, read from the pictures of `depyf.bytecode.operations`.

A name on both sides of a picture is the same value before and after; any other name on the right is a result. The name
of a result determines its sort (`SORTS`).
"""

from __future__ import annotations

from dataclasses import field

from depyf.bytecode.operations import COUNTS, OPERATIONS, Picture
from depyf.bytecode.records import dataclass
from depyf.verify.terms import Sort, Symbol

OF_PICTURES = frozenset(
    """
    LOAD_DEREF STORE_DEREF DELETE_DEREF LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF LOAD_FROM_DICT_OR_GLOBALS
    STORE_GLOBAL DELETE_GLOBAL STORE_NAME DELETE_NAME LOAD_LOCALS LOAD_BUILD_CLASS SETUP_ANNOTATIONS LOAD_ATTR
    STORE_ATTR DELETE_ATTR LOAD_SUPER_ATTR LOAD_SUBSCR STORE_SUBSCR DELETE_SUBSCR UNARY BINARY INPLACE COMPARE
    CONTAINS LIST_TO_TUPLE CONVERT BUILD_TEMPLATE IMPORT_NAME IMPORT_LAZY IMPORT_FROM IMPORT_STAR GET_ITER
    GET_YIELD_FROM_ITER YIELD YIELD_FROM GET_AWAITABLE GET_AITER GET_ANEXT CHECK_EXC_MATCH MATCH_EXC ENTER_WITH
    ENTER_ASYNC_WITH GET_LEN MATCH_MAPPING MATCH_SEQUENCE MATCH_KEYS MATCH_CLASS COPY_DICT_WITHOUT_KEYS
    BUILD_SET BUILD_STRING BUILD_TUPLE_UNPACK BUILD_LIST_UNPACK BUILD_SET_UNPACK BUILD_MAP_UNPACK
    BUILD_TUPLE_UNPACK_WITH_CALL BUILD_MAP_UNPACK_WITH_CALL BUILD_MAP BUILD_CONST_KEY_MAP FORMAT
    BUILD_INTERPOLATION INTRINSIC UNPACK_SEQUENCE UNPACK_EX
    """.split()
)
"""Operations whose picture is all that the verifier needs; every other operation needs a rule of its own."""

SORTS = {
    "truth": Sort.BOOL,
    "iterator": Sort.ITERATOR,
    "async_iterator": Sort.ASYNC_ITERATOR,
    "text": Sort.TEXT,
    "list": Sort.LIST,
    "set": Sort.SET,
    "dict": Sort.DICT,
}
"""The sorts of results, by their names in the pictures."""

GROWERS = {
    operation.name: len(operation.picture.before) - 1
    for operation in OPERATIONS.values()
    if operation.picture.before[:1] == operation.picture.after == (("below", "n"),)
    and len(operation.picture.before) > 1
}
"""Operations on a container that stays in place on the stack, and how many values they take from the top."""

NEVER_RAISE = frozenset({"STORE_DEREF"})


@dataclass(slots=True)
class Effect:
    """The effect of an operation on the stack.

    pops: the number of values that it takes.
    gives: the values that it pushes, the top last: the index of a popped value (0 is the deepest), or the sort of a
        result.
    results: a symbol for each result.
    """

    pops: int
    gives: tuple[int | Sort, ...]
    results: tuple[Symbol, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.results = tuple([Symbol(give) for give in self.gives if isinstance(give, Sort)])


def effect_in(picture: Picture, arg: object) -> Effect:
    """Return the effect of an operation with this argument, as its picture shows."""
    taken = [term for term, count in picture.before for _ in range(_count(count, arg))]
    gives: list[int | Sort] = []
    for name, count in picture.after:
        given = taken.index(name) if (name, count) in picture.before else SORTS.get(name, Sort.PLAIN)
        gives.extend([given] * _count(count, arg))
    return Effect(len(taken), tuple(gives))


def _count(count: str, arg: object) -> int:
    return COUNTS[count](arg) if count else 1


EFFECTS = {name: effect_in(OPERATIONS[name].picture, None) for name in OF_PICTURES if OPERATIONS[name].picture.fixed}
"""The effects that are the same for every argument."""


def effect_of(op: str, arg: object) -> Effect | None:
    """Return the effect of an operation, or None if its picture is not all that the verifier needs."""
    if op in EFFECTS:
        return EFFECTS[op]
    return effect_in(OPERATIONS[op].picture, arg) if op in OF_PICTURES else None
