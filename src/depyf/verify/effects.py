"""What operations of one shape do to the stack: one picture each, as in `depyf.bytecode.operations`.

A name on both sides of the arrow is the same value before and after; any other name on the right is a result. Results
named `truth` are bools, those named `iterator` and `async_iterator` are such, those named `text` are texts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from depyf.verify.terms import Sort, Symbol

PICTURES = """
LOAD_DEREF                  -> v
STORE_DEREF                 v ->
DELETE_DEREF                ->
LOAD_CLASSDEREF             -> v
LOAD_FROM_DICT_OR_DEREF     dict -> v
LOAD_FROM_DICT_OR_GLOBALS   dict -> v
STORE_GLOBAL                v ->
DELETE_GLOBAL               ->
STORE_NAME                  v ->
DELETE_NAME                 ->
LOAD_LOCALS                 -> dict
LOAD_BUILD_CLASS            -> v
SETUP_ANNOTATIONS           ->
LOAD_ATTR                   o -> v
STORE_ATTR                  v o ->
DELETE_ATTR                 o ->
LOAD_SUPER_ATTR             super cls self -> v
LOAD_SUBSCR                 o k -> v
STORE_SUBSCR                v o k ->
DELETE_SUBSCR               o k ->
UNARY                       v -> r
BINARY                      a b -> v
INPLACE                     a b -> v
COMPARE                     a b -> v
CONTAINS                    item container -> truth
LIST_TO_TUPLE               list -> tuple
CONVERT                     v -> text
BUILD_TEMPLATE              strings interpolations -> template
IMPORT_NAME                 level fromlist -> module
IMPORT_LAZY                 level fromlist -> module
IMPORT_FROM                 module -> module v
IMPORT_STAR                 module ->
GET_ITER                    v -> iterator
GET_YIELD_FROM_ITER         v -> awaited
YIELD                       v -> sent
YIELD_FROM                  awaited none -> result
GET_AWAITABLE               v -> awaitable
GET_AITER                   v -> async_iterator
GET_ANEXT                   aiter -> aiter awaitable
CHECK_EXC_MATCH             exc type -> exc truth
MATCH_EXC                   kind type -> truth
ENTER_WITH                  manager -> exit result
ENTER_ASYNC_WITH            manager -> exit awaitable
GET_LEN                     v -> v n
MATCH_MAPPING               v -> v truth
MATCH_SEQUENCE              v -> v truth
MATCH_KEYS                  subject keys -> subject keys values
MATCH_CLASS                 subject class names -> attributes
COPY_DICT_WITHOUT_KEYS      subject keys -> subject rest
"""

BUILDERS = frozenset(
    "BUILD_SET BUILD_STRING BUILD_TUPLE_UNPACK BUILD_LIST_UNPACK BUILD_SET_UNPACK BUILD_MAP_UNPACK "
    "BUILD_TUPLE_UNPACK_WITH_CALL BUILD_MAP_UNPACK_WITH_CALL".split()
)
"""Operations that take as many values as their argument says and give one."""

GROWERS = {
    "LIST_APPEND": 1,
    "SET_ADD": 1,
    "MAP_ADD": 2,
    "LIST_EXTEND": 1,
    "SET_UPDATE": 1,
    "DICT_UPDATE": 1,
    "DICT_MERGE": 1,
}
"""Operations on a container that stays where it is on the stack, and how many values they take from the top."""

NEVER_RAISE = frozenset({"STORE_DEREF"})


@dataclass(slots=True)
class Effect:
    """What an operation does to the stack.

    pops: how many values it takes.
    gives: what it puts there, the last one on top: the index of a value taken (0 is the deepest), or the sort of a
        result.
    results: a symbol of each result.
    """

    pops: int
    gives: tuple[int | Sort, ...]
    results: tuple[Symbol, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.results = tuple([Symbol(give) for give in self.gives if isinstance(give, Sort)])


def parse(before: str, after: str) -> Effect:
    """Read one picture."""
    taken = before.split()
    sorts = {"truth": Sort.BOOL, "iterator": Sort.ITERATOR, "async_iterator": Sort.ASYNC_ITERATOR, "text": Sort.TEXT}
    gives = tuple(taken.index(name) if name in taken else sorts.get(name, Sort.PLAIN) for name in after.split())
    return Effect(len(taken), gives)


def parse_all(pictures: str) -> dict[str, Effect]:
    """Read a table of pictures."""
    effects = {}
    for line in pictures.strip().splitlines():
        before, _, after = line.partition("->")
        op, _, operands = before.strip().partition(" ")
        effects[op] = parse(operands, after)
    return effects


EFFECTS = parse_all(PICTURES)
ONE_RESULT = (Sort.PLAIN,)


def effect_of(op: str, arg: object) -> Effect | None:
    """Return the effect of an operation, or None where it has none of this kind."""
    if op in EFFECTS:
        return EFFECTS[op]
    if op in BUILDERS and isinstance(arg, int):
        return Effect(arg, (Sort.SET,) if op == "BUILD_SET" else ONE_RESULT)
    match op, arg:
        case "BUILD_MAP", int(count):
            return Effect(2 * count, (Sort.DICT,))
        case "BUILD_CONST_KEY_MAP", int(count):
            return Effect(count + 1, (Sort.DICT,))
        case "FORMAT", (bool(has_spec), _):
            return Effect(1 + has_spec, (Sort.TEXT,))
        case "BUILD_INTERPOLATION", (_, bool(has_spec)):
            return Effect(2 + has_spec, ONE_RESULT)
        case "INTRINSIC", (_, int(count)):
            return Effect(count, ONE_RESULT)
        case "UNPACK_SEQUENCE", int(count):
            return Effect(1, (Sort.PLAIN,) * count)
        case "UNPACK_EX", (int(before), int(after)):
            return Effect(1, (*(Sort.PLAIN,) * before, Sort.LIST, *(Sort.PLAIN,) * after))
        case _:
            return None
