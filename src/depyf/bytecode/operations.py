"""The normalised operations: one table of stack pictures, which defines every effect.

A picture reads bottom to top, `before -> after`; deeper values do not change. `name` is one value; `name*count` are as
many values as the argument determines (`COUNTS`). A term on both sides is one value that is read and kept. Any other
name on the right is a result: `truth` is a bool, `text` a string; `iterator`, `async_iterator`, `list`, `set`, `dict`
are objects of that kind.

Details that the pictures do not show, by operation:

    NULL            the missing `self` of a call (PUSH_NULL)
    SWAP n          swap the top and the value n deep (ROT_THREE = SWAP 3, SWAP 2; DUP_TOP_TWO = COPY 2, COPY 2)
    CONST value     nested code is a `Code`; RETURN_CONST is CONST, RETURN
    LOAD_FAST name  _CHECK and _BORROW forms are LOAD_FAST
    LOAD_FAST_CLEAR name    gives a value or null; the variable is unbound afterwards; STORE_FAST takes null too
    LOAD_CLOSURE name       the cell (3.13: LOAD_FAST of a cell variable)
    MAKE_CELL name          the variable's value (or none) becomes the content of a new cell; only if the operation
                            is not at the start of the code
    LOAD_CLASSDEREF name    locals first, then the cell
    LOAD_COMMON name        AssertionError, NotImplementedError, tuple, all, any...
    MARK what               a block of the block stack is opened or closed; only on request
    LOAD_METHOD (name, shape), LOAD_SUPER_METHOD (name, two_args, shape)
                            shape 'below': method self, or null attribute; 'above': attribute null; see CALL
    LOAD_SPECIAL name       only if no ENTER_WITH is recognised
    LOAD_SUBSCR             BINARY_SLICE is BUILD_SLICE 2, LOAD_SUBSCR; STORE_SLICE is similar
    UNARY op                '-' '+' '~' 'not'
    BINARY op, INPLACE op   '+' '-' '*' '@' '/' '//' '%' '**' '<<' '>>' '&' '|' '^'
    COMPARE op              '<' '<=' '==' '!=' '>' '>='
    IS invert, CONTAINS invert
    TO_BOOL                 only if no JUMP_IF_x or UNARY 'not' follows
    BUILD_SLICE n           2 or 3 values
    BUILD_CONST_KEY_MAP n   `keys` is a constant tuple
    LIST_APPEND i, ...      to the container i deep after popping; 3.7 has MAP_ADD the other way: SWAP 2 before
    UNPACK_EX (before, after)   the first on top
    CONVERT c               's' 'r' 'a'
    FORMAT (spec, conversion)   spec: whether a specification is on the stack; the conversion is None from 3.13 on
    BUILD_INTERPOLATION (conversion, spec)
    IMPORT_LAZY name        `lazy import`
    MAKE_FUNCTION flags     bits 1 2 4 8: defaults, keyword defaults, annotations, closure; the qualified name of 3.10
                            and older is gone
    SET_FUNCTION_ATTRIBUTE flag    1 2 4 8 16 (16: annotate function)
    CALL (n, shape), CALL_KW (n, shape), CALL_EX (has_kwargs, shape)
                            shape 'plain': the callee is one value; 'below': null callable, or method self; 'above':
                            callable null, or callable self. `names` is a constant tuple
    INTRINSIC (name, n)     except those with an operation of their own
    JUMP_IF_x               JUMP_IF_x_OR_POP is COPY 1, JUMP_IF_x, POP; POP_JUMP_IF_NONE is CONST None, IS, JUMP_IF
    FOR_ITER                at the target the iterator is gone; END_FOR is part of it
    YIELD                   arg 'unwrapped': an asynchronous generator passes the value to the event loop unchanged
    YIELD_FROM              `first` is the first value to send, None unless a program wrote the code; the SEND loop
                            of 3.11 and newer with its CLEANUP_THROW is one YIELD_FROM
    UNGUARDED               a StopIteration of the next operation, a truth test, leaves the generator unchanged
                            (`loose_tests`); at the start of the code, that of any operation: no source has that
    GET_AWAITABLE           arg: 0, 1 (from __aenter__), 2 (from __aexit__)
    END_ASYNC_FOR           re-raises unless StopAsyncIteration (a handler's first operation)
    SEND, CLEANUP_THROW     only if no YIELD_FROM is recognised; SEND's arg True: at the target the iterator is gone
    PUSH_EXC_INFO           3.10 and older push three values per exception; normalised code pushes one
    MATCH_EXC               3.10 and older: after COPY 1 it is CHECK_EXC_MATCH
    RERAISE n               the depth of the saved offset below the exception, 0: not used
    ENTER_WITH, ENTER_ASYNC_WITH   after it a handler protects the body; at the normal end exit is below three
                            None; CALL (2, 'below' or 'above') takes the first None for the self of exit (3.11 to
                            3.13), CALL (3, 'plain') has exit alone as callee
    WITH_EXCEPT_START n     the depth of `exit` (1 = top), as for COPY
    MATCH_KEYS, MATCH_CLASS n      None if it does not match
    MATCH_CLASS_OR_SUBJECT n       3.10, only in program-written code
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from depyf.bytecode.records import dataclass

QUIET = """
NULL                        -> null
POP                         v ->
COPY                        below*n -> below*n copy
SWAP                        below*n -> below*n
CONST                       -> v
STORE_FAST                  v ->
LOAD_FAST_CLEAR             -> v
LOAD_CLOSURE                -> cell
MAKE_CELL                   ->
MARK                        ->
LOAD_COMMON                 -> v
LOAD_LOCALS                 -> dictionary
BUILD_TUPLE                 v*n -> tuple
BUILD_LIST                  v*n -> list
BUILD_STRING                v*n -> built
BUILD_SLICE                 v*n -> slice
BUILD_TEMPLATE              strings interpolations -> template
BUILD_INTERPOLATION         value expression specification*second -> interpolation
LIST_APPEND                 below*n v -> below*n
LIST_TO_TUPLE               items -> tuple
IS                          a b -> truth
MAKE_FUNCTION               given*bits code -> function
SET_FUNCTION_ATTRIBUTE      value function -> attributed
PUSH_EXC_INFO               exc -> previous caught
POP_EXCEPT                  previous ->
MATCH_MAPPING               v -> v truth
MATCH_SEQUENCE              v -> v truth
UNGUARDED                   ->
"""
"""Operations that never raise and are not observable."""

LOCAL = """
LOAD_FAST                   -> v
DELETE_FAST                 ->
"""
"""Operations that may raise and are not observable."""

LOUD = """
LOAD_DEREF                  -> v
LOAD_CLASSDEREF             -> v
LOAD_GLOBAL                 -> v
LOAD_NAME                   -> v
LOAD_FROM_DICT_OR_DEREF     names -> v
LOAD_FROM_DICT_OR_GLOBALS   names -> v
LOAD_BUILD_CLASS            -> v
STORE_DEREF                 v ->
STORE_GLOBAL                v ->
STORE_NAME                  v ->
DELETE_DEREF                ->
DELETE_GLOBAL               ->
DELETE_NAME                 ->
SETUP_ANNOTATIONS           ->
LOAD_ATTR                   o -> v
STORE_ATTR                  v o ->
DELETE_ATTR                 o ->
LOAD_METHOD                 o -> method self
LOAD_SUPER_ATTR             super cls self -> v
LOAD_SUPER_METHOD           super cls self -> method bound
LOAD_SPECIAL                o -> method self
LOAD_SUBSCR                 o k -> v
STORE_SUBSCR                v o k ->
DELETE_SUBSCR               o k ->
UNARY                       v -> r
BINARY                      a b -> v
INPLACE                     a b -> v
COMPARE                     a b -> v
CONTAINS                    item container -> truth
TO_BOOL                     v -> truth
BUILD_SET                   v*n -> set
BUILD_MAP                   v*2n -> dict
BUILD_CONST_KEY_MAP         v*n keys -> dict
BUILD_TUPLE_UNPACK          v*n -> built
BUILD_LIST_UNPACK           v*n -> built
BUILD_SET_UNPACK            v*n -> built
BUILD_MAP_UNPACK            v*n -> built
BUILD_TUPLE_UNPACK_WITH_CALL  v*n -> built
BUILD_MAP_UNPACK_WITH_CALL  v*n -> built
SET_ADD                     below*n v -> below*n
MAP_ADD                     below*n k v -> below*n
LIST_EXTEND                 below*n iterable -> below*n
SET_UPDATE                  below*n iterable -> below*n
DICT_UPDATE                 below*n mapping -> below*n
DICT_MERGE                  below*n mapping -> below*n
UNPACK_SEQUENCE             sequence -> v*n
UNPACK_EX                   sequence -> v*second list v*first
CONVERT                     v -> text
FORMAT                      v specification*first -> text
IMPORT_NAME                 level fromlist -> module
IMPORT_LAZY                 level fromlist -> module
IMPORT_FROM                 module -> module v
IMPORT_STAR                 module ->
CALL                        callee*shape v*first -> result
CALL_KW                     callee*shape v*first names -> result
CALL_EX                     callee*shape args kwargs*first -> result
INTRINSIC                   v*second -> result
GET_ITER                    v -> iterator
GET_YIELD_FROM_ITER         v -> awaited
YIELD                       v -> sent
YIELD_FROM                  awaited first -> result
GET_AWAITABLE               v -> awaitable
GET_AITER                   v -> async_iterator
GET_ANEXT                   aiter -> aiter awaitable
END_ASYNC_FOR               aiter exc ->
CLEANUP_THROW               awaited last exc -> none value
CHECK_EXC_MATCH             exc type -> exc truth
MATCH_EXC                   exc type -> truth
CHECK_EG_MATCH              exc type -> rest match
PREP_RERAISE_STAR           original list -> exc
ENTER_WITH                  manager -> exit result
ENTER_ASYNC_WITH            manager -> exit awaitable
WITH_EXCEPT_START           below*n -> below*n result
GET_LEN                     v -> v length
MATCH_KEYS                  subject keys -> subject keys values
MATCH_CLASS                 subject class names -> attributes
MATCH_CLASS_OR_SUBJECT      subject class names -> attributes truth
COPY_DICT_WITHOUT_KEYS      subject keys -> subject rest
JUMP_IF_TRUE                v ->
JUMP_IF_FALSE               v ->
FOR_ITER                    iterator -> iterator v
SEND                        awaited v -> awaited result
RAISE                       v*n ->
RERAISE                     below*n exc ->
"""
"""Operations that may raise and are observable."""

Effect = tuple[int, int]
"""The number of values that an operation takes from the stack, and the number that it leaves there instead."""

EffectOf = Callable[[Any], Effect]
"""The effect for an argument. A value that is only read counts as taken and left again."""

COUNTS: dict[str, Callable[[Any], int]] = {
    "n": lambda arg: arg,
    "2n": lambda arg: 2 * arg,
    "first": lambda arg: arg[0],
    "second": lambda arg: arg[1],
    "bits": lambda arg: (arg & 15).bit_count(),
    "shape": lambda arg: 1 if arg[1] == "plain" else 2,
}
"""The number of values of a term, by the text after its `*`; `shape` is the number of slots of a callee."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The stack before and after an operation: terms, each a name and the key of its count (empty: one value)."""

    before: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]

    @property
    def fixed(self) -> bool:
        """Return whether the effect is the same for every argument."""
        return not any(count for _, count in self.before + self.after)

    @property
    def results(self) -> tuple[tuple[str, str], ...]:
        """Return the terms on the right that are not on the left."""
        return tuple(term for term in self.after if term not in self.before)


def read_picture(text: str) -> Picture:
    """Return the picture for a text like `v*n keys -> dict`."""
    before, _, after = text.partition("->")
    sides = [tuple(term.partition("*")[::2] for term in side.split()) for side in (before, after)]
    return Picture(*sides)


@dataclass(frozen=True, slots=True)
class Operation:
    """The stack effect of one operation, and its properties.

    picture: the stack when control falls through to the next instruction (or leaves the code).
    effect: the effect in that case.
    jump_effect: the effect when it jumps to the target; None for operations without one.
    raises: whether it can raise, apart from asynchronous exceptions and lack of memory.
    observable: whether it may run the user's code, or reads or writes data that other code sees. Then its order among
        other observable operations matters. Constants, the stack, and plain local variables are not observable.
    falls: whether control can fall through to the next instruction.
    """

    name: str
    picture: Picture
    effect: EffectOf
    jump_effect: EffectOf | None = None
    raises: bool = True
    observable: bool = True
    falls: bool = True


def _total(terms: tuple[tuple[str, str], ...]) -> Callable[[Any], int]:
    fixed = sum(not count for _, count in terms)
    counts = [COUNTS[count] for _, count in terms if count]
    if not counts:
        return lambda arg: fixed
    if len(counts) == 1:
        return lambda arg, only=counts[0]: fixed + only(arg)  # type: ignore[misc]
    return lambda arg: fixed + sum([count(arg) for count in counts])


def _effect(picture: Picture) -> EffectOf:
    pops, pushes = _total(picture.before), _total(picture.after)
    return lambda arg: (pops(arg), pushes(arg))


def _always(pops: int, pushes: int) -> EffectOf:
    return lambda arg: (pops, pushes)


_JUMPS: dict[str, EffectOf] = {
    "JUMP_IF_TRUE": _always(1, 0),
    "JUMP_IF_FALSE": _always(1, 0),
    "FOR_ITER": _always(1, 0),
    "SEND": lambda gone: (2, 1) if gone else (2, 2),
}
_ENDS = frozenset({"RAISE", "RERAISE"})


def _rows(pictures: str, *, raises: bool, observable: bool) -> list[Operation]:
    rows = []
    for line in pictures.strip().splitlines():
        name, text = line.split(maxsplit=1)
        picture = read_picture(text)
        falls = name not in _ENDS
        rows.append(Operation(name, picture, _effect(picture), _JUMPS.get(name), raises, observable, falls))
    return rows


_NOTHING = read_picture("->")
_VALUE = read_picture("v ->")
_ROWS = [
    *_rows(QUIET, raises=False, observable=False),
    *_rows(LOCAL, raises=True, observable=False),
    *_rows(LOUD, raises=True, observable=True),
    Operation("JUMP", _NOTHING, _always(0, 0), _always(0, 0), raises=False, observable=False, falls=False),
    Operation("RETURN", _VALUE, _always(1, 0), raises=False, falls=False),
]

OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in _ROWS}
"""Every operation by name."""
ALWAYS: dict[str, Effect] = {
    name: operation.effect(None) for name, operation in OPERATIONS.items() if operation.picture.fixed
}
"""The effect of the operations whose effect is independent of the argument."""
STRAIGHT = frozenset(
    name for name, operation in OPERATIONS.items() if operation.falls and operation.jump_effect is None
)
"""The operations that always fall through."""
OF_VARIABLES = frozenset(
    f"{what}_{where}" for what in ("LOAD", "STORE", "DELETE") for where in ("FAST", "DEREF", "GLOBAL", "NAME")
) | {"LOAD_FAST_CLEAR", "LOAD_CLOSURE", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS"}
"""Operations whose argument is the name of a variable, in any scope."""
