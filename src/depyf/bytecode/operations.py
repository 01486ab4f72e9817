"""The normalised operations: one table of what each does to the stack.

Stack pictures read bottom to top, `before -> after`. `...` below is left alone.

Stack
    NULL            -> null            the missing `self` of a call (PUSH_NULL)
    POP             v ->
    COPY n          the value n deep (1 = top) is pushed again
    SWAP n          top and the value n deep change places
                    (ROT_THREE = SWAP 3, SWAP 2; DUP_TOP_TWO = COPY 2, COPY 2)
Constants and names (arg: the constant; the name)
    CONST value     -> v               nested code is a `Code`; RETURN_CONST is CONST, RETURN
    LOAD_FAST STORE_FAST DELETE_FAST   (_CHECK and _BORROW forms are LOAD_FAST)
    LOAD_FAST_CLEAR name -> v or null  the variable is unbound afterwards; STORE_FAST takes null too
    LOAD_DEREF STORE_DEREF DELETE_DEREF
    LOAD_CLOSURE name -> cell          (3.13: LOAD_FAST of a cell variable)
    MAKE_CELL name                     the variable's value (or none) becomes the content of a new cell; only
                                       where it does not stand at the start of the code
    LOAD_CLASSDEREF name -> v          locals first, then the cell
    LOAD_FROM_DICT_OR_DEREF name, LOAD_FROM_DICT_OR_GLOBALS name    dict -> v
    LOAD_GLOBAL STORE_GLOBAL DELETE_GLOBAL LOAD_NAME STORE_NAME DELETE_NAME
    LOAD_LOCALS     -> dict
    LOAD_COMMON name -> v              AssertionError, NotImplementedError, tuple, all, any...
    LOAD_BUILD_CLASS -> v
    SETUP_ANNOTATIONS
Blocks
    MARK what                          a block of the block stack is opened or closed; only where it is asked for
Attributes and items
    LOAD_ATTR name      o -> v
    STORE_ATTR name     v o ->         DELETE_ATTR name    o ->
    LOAD_METHOD name    o -> method self, or null attribute (below); attribute null (above): see CALL
                        arg is (name, shape)
    LOAD_SUPER_ATTR (name, two_args)   super cls self -> v
    LOAD_SUPER_METHOD (name, two_args, shape)  super cls self -> as LOAD_METHOD
    LOAD_SPECIAL name   o -> method self     only where no ENTER_WITH could be recognised
    LOAD_SUBSCR     o k -> v
    STORE_SUBSCR    v o k ->           DELETE_SUBSCR   o k ->
                    BINARY_SLICE is BUILD_SLICE 2, LOAD_SUBSCR; STORE_SLICE likewise
Operators
    UNARY op        v -> v             op: '-' '+' '~' 'not'
    BINARY op, INPLACE op   a b -> v   op: '+' '-' '*' '@' '/' '//' '%' '**' '<<' '>>' '&' '|' '^'
    COMPARE op      a b -> v           op: '<' '<=' '==' '!=' '>' '>='
    IS invert       a b -> bool        CONTAINS invert   item container -> bool
    TO_BOOL         v -> bool          only where no JUMP_IF_x or UNARY 'not' follows
Displays
    BUILD_TUPLE n, BUILD_LIST n, BUILD_SET n, BUILD_STRING n, BUILD_SLICE n (2 or 3)
    BUILD_MAP n                        k v ... -> dict
    BUILD_CONST_KEY_MAP n              v ... keys -> dict     keys is a constant tuple on the stack
    BUILD_TUPLE_UNPACK, BUILD_LIST_UNPACK, BUILD_SET_UNPACK, BUILD_MAP_UNPACK n,
    BUILD_TUPLE_UNPACK_WITH_CALL, BUILD_MAP_UNPACK_WITH_CALL n     (3.8 and older)
    LIST_APPEND i, SET_ADD i           ... v ->       to the container i deep after popping
    MAP_ADD i                          ... k v ->     (3.7 has them the other way: SWAP 2 before)
    LIST_EXTEND, SET_UPDATE, DICT_UPDATE, DICT_MERGE i     ... iterable ->
    LIST_TO_TUPLE   list -> tuple
    UNPACK_SEQUENCE n                  seq -> v_n ... v_1
    UNPACK_EX (before, after)          seq -> after..., list, before...  (first on top)
Formatting
    CONVERT c       v -> str           c: 's' 'r' 'a'
    FORMAT spec     v -> str           spec False
    FORMAT spec     v s -> str         spec True
                    FORMAT_VALUE of 3.12 and older: arg (spec, conversion); newer: (spec, None)
    BUILD_TEMPLATE                     strings interpolations -> template
    BUILD_INTERPOLATION (conversion, spec)   value expression [spec] -> interpolation
Imports
    IMPORT_NAME name    level fromlist -> module
    IMPORT_LAZY name    likewise, for a `lazy import`
    IMPORT_FROM name    module -> module v
    IMPORT_STAR         module ->
Functions and calls
    MAKE_FUNCTION flags [defaults] [kwdefaults] [annotations] [closure] code -> fn
                    bits 1 2 4 8 say which are there; the qualified name of 3.10 and older is gone
    SET_FUNCTION_ATTRIBUTE flag        value fn -> fn      flag: 1 2 4 8 16 (16: annotate function)
    CALL (n, shape)         callee... a1..an -> v
    CALL_KW (n, shape)      callee... a1..an names -> v    names: constant tuple on the stack
    CALL_EX (has_kwargs, shape)   callee... args [kwargs] -> v
                    shape 'plain': callee is one value; 'below': null callable, or method self;
                    'above': callable null, or callable self
    INTRINSIC name  n values -> v      arg (name, n); those with an operation of their own are not here
Control
    JUMP            target
    JUMP_IF_TRUE, JUMP_IF_FALSE        v ->   target; truth test as by bool()
                    JUMP_IF_x_OR_POP is COPY 1, JUMP_IF_x, POP; POP_JUMP_IF_NONE is CONST None, IS, JUMP_IF
    RETURN          v ->               RAISE n   [exc [cause]] ->       RERAISE n    see below
    GET_ITER        v -> iterator      GET_YIELD_FROM_ITER  v -> iterator
    FOR_ITER        iterator -> iterator v, or at target: ->      (END_FOR is part of it)
    YIELD           v -> sent          arg 'unwrapped': an asynchronous generator hands v to the event loop as it is
    YIELD_FROM      iterator first -> result     first: what to send first, None unless written by a program
                    the SEND loop of 3.11 and newer with its CLEANUP_THROW is one YIELD_FROM
    UNGUARDED       from here on a StopIteration leaves the generator as it is, which no source can say
    GET_AWAITABLE   v -> iterator      arg: 0, 1 (from __aenter__), 2 (from __aexit__)
    GET_AITER       v -> aiter         GET_ANEXT   aiter -> aiter awaitable
    END_ASYNC_FOR   aiter exc ->       re-raises unless StopAsyncIteration (a handler's first operation)
    SEND            iterator v -> iterator result    target: -> iterator result; only where no YIELD_FROM is recognised
                    arg True: at the target the iterator is gone
    CLEANUP_THROW   iterator last exc -> None value  likewise
Exceptions and `with`
    PUSH_EXC_INFO   exc -> previous exc
    POP_EXCEPT      previous ->
                    3.10 and older push three values per exception; here one stands for them, as in newer versions
    CHECK_EXC_MATCH exc type -> exc bool
    MATCH_EXC       exc type -> bool           3.10 and older: after COPY 1 it is CHECK_EXC_MATCH
    CHECK_EG_MATCH  exc type -> rest match
    PREP_RERAISE_STAR   orig list -> exc
    RERAISE n       ... exc ->         n: how deep below exc the saved offset is, 0: not used
    ENTER_WITH      manager -> exit result       after it a handler protects the body
    ENTER_ASYNC_WITH  manager -> exit awaitable
                    at the normal end exit stands below three None; CALL (2, 'below' or 'above') takes the first
                    None for the self of exit (3.11 to 3.13), CALL (3, 'plain') has exit alone as callee
    WITH_EXCEPT_START  exit lasti previous exc -> exit lasti previous exc result     (3.10 and older: no lasti)
                    arg: how deep `exit` is (1 = top), as for COPY
Pattern matching
    GET_LEN         v -> v n           MATCH_MAPPING, MATCH_SEQUENCE   v -> v bool
    MATCH_KEYS      subject keys -> subject keys values    (None if it does not match)
    MATCH_CLASS n   subject class names -> attributes or None
    MATCH_CLASS_OR_SUBJECT n   subject class names -> attributes or subject, bool     3.10, written by a program only
    COPY_DICT_WITHOUT_KEYS   subject keys -> subject rest
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Effect = tuple[int, int]
"""How many values an operation takes from the stack, and how many it leaves there instead."""

EffectOf = Callable[[Any], Effect]
"""The effect for an argument. What is only looked at counts as taken and left again."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What one operation does to the stack, and what a reader of the code may conclude.

    effect: effect when control goes on to the next instruction (or leaves the code).
    jump_effect: effect when it goes to the target; None for operations without one.
    raises: whether it can raise, apart from asynchronous exceptions and lack of memory.
    observable: whether it may run code of the user, or reads or writes what other code sees,
        so that its place among others of its kind matters; constants, the stack, and plain
        local variables are not that.
    falls: whether control can go on to the next instruction.
    """

    name: str
    effect: EffectOf
    jump_effect: EffectOf | None = None
    raises: bool = True
    observable: bool = True
    falls: bool = True


_SAME: dict[EffectOf, Effect] = {}


def _always(pops: int, pushes: int) -> EffectOf:
    def effect(arg: object) -> Effect:
        return pops, pushes

    _SAME[effect] = (pops, pushes)
    return effect


def _callee(shape: str) -> int:
    return 1 if shape == "plain" else 2


def _container(values: int) -> EffectOf:
    return lambda depth: (depth + values, depth)


_QUIET: dict[str, EffectOf] = {
    "NULL": _always(0, 1),
    "POP": _always(1, 0),
    "COPY": lambda depth: (depth, depth + 1),
    "SWAP": lambda depth: (depth, depth),
    "CONST": _always(0, 1),
    "STORE_FAST": _always(1, 0),
    "LOAD_FAST_CLEAR": _always(0, 1),
    "LOAD_CLOSURE": _always(0, 1),
    "MAKE_CELL": _always(0, 0),
    "MARK": _always(0, 0),
    "LOAD_COMMON": _always(0, 1),
    "LOAD_LOCALS": _always(0, 1),
    "BUILD_TUPLE": lambda count: (count, 1),
    "BUILD_LIST": lambda count: (count, 1),
    "BUILD_STRING": lambda count: (count, 1),
    "BUILD_SLICE": lambda count: (count, 1),
    "BUILD_TEMPLATE": _always(2, 1),
    "BUILD_INTERPOLATION": lambda arg: (2 + arg[1], 1),
    "LIST_APPEND": _container(1),
    "LIST_TO_TUPLE": _always(1, 1),
    "IS": _always(2, 1),
    "MAKE_FUNCTION": lambda flags: (1 + (flags & 15).bit_count(), 1),
    "SET_FUNCTION_ATTRIBUTE": _always(2, 1),
    "PUSH_EXC_INFO": _always(1, 2),
    "POP_EXCEPT": _always(1, 0),
    "MATCH_MAPPING": _always(1, 2),
    "MATCH_SEQUENCE": _always(1, 2),
    "UNGUARDED": _always(0, 0),
}
OF_VARIABLES = frozenset(
    f"{what}_{where}" for what in ("LOAD", "STORE", "DELETE") for where in ("FAST", "DEREF", "GLOBAL", "NAME")
) | {"LOAD_FAST_CLEAR", "LOAD_CLOSURE", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS"}
"""Operations whose argument is the name of a variable, of whatever scope."""
_LOCAL: dict[str, EffectOf] = {"LOAD_FAST": _always(0, 1), "DELETE_FAST": _always(0, 0)}
_LOUD: dict[str, EffectOf] = {
    "LOAD_DEREF": _always(0, 1),
    "LOAD_CLASSDEREF": _always(0, 1),
    "LOAD_GLOBAL": _always(0, 1),
    "LOAD_NAME": _always(0, 1),
    "LOAD_FROM_DICT_OR_DEREF": _always(1, 1),
    "LOAD_FROM_DICT_OR_GLOBALS": _always(1, 1),
    "LOAD_BUILD_CLASS": _always(0, 1),
    "STORE_DEREF": _always(1, 0),
    "STORE_GLOBAL": _always(1, 0),
    "STORE_NAME": _always(1, 0),
    "DELETE_DEREF": _always(0, 0),
    "DELETE_GLOBAL": _always(0, 0),
    "DELETE_NAME": _always(0, 0),
    "SETUP_ANNOTATIONS": _always(0, 0),
    "LOAD_ATTR": _always(1, 1),
    "STORE_ATTR": _always(2, 0),
    "DELETE_ATTR": _always(1, 0),
    "LOAD_METHOD": _always(1, 2),
    "LOAD_SUPER_ATTR": _always(3, 1),
    "LOAD_SUPER_METHOD": _always(3, 2),
    "LOAD_SPECIAL": _always(1, 2),
    "LOAD_SUBSCR": _always(2, 1),
    "STORE_SUBSCR": _always(3, 0),
    "DELETE_SUBSCR": _always(2, 0),
    "UNARY": _always(1, 1),
    "BINARY": _always(2, 1),
    "INPLACE": _always(2, 1),
    "COMPARE": _always(2, 1),
    "CONTAINS": _always(2, 1),
    "TO_BOOL": _always(1, 1),
    "BUILD_SET": lambda count: (count, 1),
    "BUILD_MAP": lambda count: (2 * count, 1),
    "BUILD_CONST_KEY_MAP": lambda count: (count + 1, 1),
    "BUILD_TUPLE_UNPACK": lambda count: (count, 1),
    "BUILD_LIST_UNPACK": lambda count: (count, 1),
    "BUILD_SET_UNPACK": lambda count: (count, 1),
    "BUILD_MAP_UNPACK": lambda count: (count, 1),
    "BUILD_TUPLE_UNPACK_WITH_CALL": lambda count: (count, 1),
    "BUILD_MAP_UNPACK_WITH_CALL": lambda count: (count, 1),
    "SET_ADD": _container(1),
    "MAP_ADD": _container(2),
    "LIST_EXTEND": _container(1),
    "SET_UPDATE": _container(1),
    "DICT_UPDATE": _container(1),
    "DICT_MERGE": _container(1),
    "UNPACK_SEQUENCE": lambda count: (1, count),
    "UNPACK_EX": lambda arg: (1, arg[0] + 1 + arg[1]),
    "CONVERT": _always(1, 1),
    "FORMAT": lambda arg: (1 + arg[0], 1),
    "IMPORT_NAME": _always(2, 1),
    "IMPORT_LAZY": _always(2, 1),
    "IMPORT_FROM": _always(1, 2),
    "IMPORT_STAR": _always(1, 0),
    "CALL": lambda arg: (arg[0] + _callee(arg[1]), 1),
    "CALL_KW": lambda arg: (arg[0] + 1 + _callee(arg[1]), 1),
    "CALL_EX": lambda arg: (1 + arg[0] + _callee(arg[1]), 1),
    "INTRINSIC": lambda arg: (arg[1], 1),
    "GET_ITER": _always(1, 1),
    "GET_YIELD_FROM_ITER": _always(1, 1),
    "YIELD": _always(1, 1),
    "YIELD_FROM": _always(2, 1),
    "GET_AWAITABLE": _always(1, 1),
    "GET_AITER": _always(1, 1),
    "GET_ANEXT": _always(1, 2),
    "END_ASYNC_FOR": _always(2, 0),
    "CLEANUP_THROW": _always(3, 2),
    "CHECK_EXC_MATCH": _always(2, 2),
    "MATCH_EXC": _always(2, 1),
    "CHECK_EG_MATCH": _always(2, 2),
    "PREP_RERAISE_STAR": _always(2, 1),
    "ENTER_WITH": _always(1, 2),
    "ENTER_ASYNC_WITH": _always(1, 2),
    "WITH_EXCEPT_START": lambda depth: (depth, depth + 1),
    "GET_LEN": _always(1, 2),
    "MATCH_KEYS": _always(2, 3),
    "MATCH_CLASS": _always(3, 1),
    "MATCH_CLASS_OR_SUBJECT": _always(3, 2),
    "COPY_DICT_WITHOUT_KEYS": _always(2, 2),
}
_ROWS = [
    *(Operation(name, effect, raises=False, observable=False) for name, effect in _QUIET.items()),
    *(Operation(name, effect, observable=False) for name, effect in _LOCAL.items()),
    *(Operation(name, effect) for name, effect in _LOUD.items()),
    Operation("JUMP", _always(0, 0), _always(0, 0), raises=False, observable=False, falls=False),
    Operation("JUMP_IF_TRUE", _always(1, 0), _always(1, 0)),
    Operation("JUMP_IF_FALSE", _always(1, 0), _always(1, 0)),
    Operation("FOR_ITER", _always(1, 2), _always(1, 0)),
    Operation("SEND", _always(2, 2), lambda done: (2, 1) if done else (2, 2)),
    Operation("RETURN", _always(1, 0), raises=False, falls=False),
    Operation("RAISE", lambda count: (count, 0), falls=False),
    Operation("RERAISE", lambda below: (below + 1, 0), falls=False),
]


OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in _ROWS}
"""Every operation by name."""
ALWAYS: dict[str, Effect] = {name: _SAME[one.effect] for name, one in OPERATIONS.items() if one.effect in _SAME}
"""The effect of the operations for which it does not depend on the argument."""
STRAIGHT = frozenset(name for name, one in OPERATIONS.items() if one.falls and one.jump_effect is None)
"""The operations behind which control goes on to the next one, and nowhere else."""

