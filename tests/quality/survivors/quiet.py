"""What nobody can see one side do: moves, constants, numbers that stand in the code, new objects, known jumps.

`step` does one such instruction. Where it does not, control stands at something that others see (`loud`), or two ways
are possible and no code is run to decide between them: that is `Fork`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from depyf.bytecode.code import Code
from tests.quality.survivors import containers
from tests.quality.survivors.containers import GROWING, bounds_of, grows
from tests.quality.survivors.running import LEFT, Fork, Running
from tests.quality.survivors.symbols import NUMBERS, NotFollowed, State, Term

LIMIT = 1 << 64
COMPUTED: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def step(run: Running) -> bool | Fork:
    """Do one instruction that nobody sees, if there is one."""
    if run.side.place == LEFT:
        return False
    action = QUIET.get(run.item.op)
    return action(run) if action is not None else False


def load_fast(run: Running) -> bool | Fork:
    """Read a variable that is bound."""
    value = variable(run)
    return value if isinstance(value, Fork) else value != run.state.symbols.null and run.give(0, value)


def variable(run: Running) -> Term | Fork:
    """Return what a variable holds, null for nothing."""
    value = run.state.resolve(run.side.variables.get(run.name, run.state.symbols.null))
    return Fork(value) if run.state.symbols.sort(value) == "maybe" else value


def store_fast(run: Running) -> bool:
    """Bind a variable; a null unbinds it."""
    value = run.top()
    run.side.variables[run.name] = value
    if value == run.state.symbols.null:
        del run.side.variables[run.name]
    return run.give(1)


def delete_fast(run: Running) -> bool | Fork:
    """Unbind a variable that is bound."""
    value = variable(run)
    if isinstance(value, Fork) or value == run.state.symbols.null:
        return value if isinstance(value, Fork) else False
    del run.side.variables[run.name]
    return run.give(0)


def load_fast_clear(run: Running) -> bool:
    """Take the value of a variable away, or a null."""
    return run.give(0, run.side.variables.pop(run.name, run.state.symbols.null))


def swap(run: Running) -> bool:
    """Exchange two values of the stack."""
    run.top(run.count)
    stack, depth = run.side.stack, run.count
    stack[-1], stack[-depth] = stack[-depth], stack[-1]
    return run.give(0)


def jump(run: Running) -> bool:
    """Go elsewhere."""
    run.side.place = run.item.target
    return True


def jump_if(run: Running) -> bool:
    """Follow a jump on what is known."""
    item, truth = run.item, run.state.is_truth(run.top())
    if truth is None:
        return False
    run.give(1)
    if truth == (item.op == "JUMP_IF_TRUE"):
        run.side.place = item.target
    return True


def to_bool(run: Running) -> bool:
    """Ask for a truth that is known."""
    truth = run.state.is_truth(run.top())
    return truth is not None and run.give(1, run.state.symbols.truth[truth])


def unary(run: Running) -> bool:
    """Turn a truth round that is known."""
    truth = run.state.is_truth(run.top()) if run.name == "not" else None
    return truth is not None and run.give(1, run.state.symbols.truth[not truth])


def binary(run: Running) -> bool:
    """Compute with two numbers."""
    symbols, terms = run.state.symbols, run.many(2)
    if run.name not in COMPUTED or any(term not in symbols.values for term in terms):
        return False
    values = [symbols.values[term] for term in terms]
    if any(type(value) not in NUMBERS or value is None for value in values):
        return False
    try:
        number = COMPUTED[run.name](*values)
    except TypeError:
        return False
    return abs(number) < LIMIT and run.give(2, symbols.constant(number))


def identity(run: Running) -> bool | Fork:
    """Return whether two values are one object."""
    state, (first, second) = run.state, sorted(run.many(2))
    same = is_one(state, first, second)
    if same is None:
        question = state.symbols.of("is", None, (first, second))
        same = state.is_truth(state.resolve(question))
        if same is None:
            return Fork(question)
    return run.give(2, state.symbols.truth[same != bool(run.item.arg)])


def is_one(state: State, first: Term, second: Term) -> bool | None:
    """Return whether two values are one object, None where either may be.

    What was made here is no other object; None, True and False are one object each. Raises `NotFollowed` for two
    numbers, texts or tuples, of which nobody can say it.
    """
    symbols, terms = state.symbols, (first, second)
    if first in state.made or second in state.made:
        return first == second
    if not symbols.singles.isdisjoint(terms):
        return None if any(symbols.nodes[term].what == "symbol" for term in terms) else first == second
    if any(symbols.nodes[term].what != "symbol" or symbols.sort(term) == "plain" for term in terms):
        raise NotFollowed
    return True if first == second else None


def make_function(run: Running) -> bool:
    """Make a function."""
    flags = run.count & 15
    *parts, code = run.many(1 + flags.bit_count())
    value = run.state.symbols.values.get(code)
    if not isinstance(value, Code):
        raise NotFollowed
    return run.give(len(parts) + 1, run.state.make(("function", flags), tuple(parts), value))


def call(run: Running) -> bool:
    """Do a call that nobody sees: that lets a new list or dict grow, of `slice`, or of `sys.exc_info`."""
    count, shape = run.pair
    slots = 1 if shape == "plain" else 2
    if not isinstance(count, int):
        raise NotFollowed
    called = run.many(slots + count)[1 if shape == "below" else 0]
    if run.state.symbols.values.get(called) is sys.exc_info:
        return not count and take_handled(run, slots)
    if run.state.symbols.values.get(called) is slice and count in (2, 3):
        return run.give(slots + count, run.state.symbols.of("slice", None, bounds_of(run, count)))
    method = run.state.made.get(called)
    if method is None or count != 1 or method.how not in GROWING:
        return False
    return grows(run, method) and run.give(slots + 1, run.state.symbols.constant(None))


def take_handled(run: Running, slots: int) -> bool:
    """Take the value of `sys.exc_info()[1]`, where the exception that is being handled was caught here."""
    place, handling = run.side.place, run.state.resolve(run.side.handling)
    index, read = run.listing.instructions[place + 1 : place + 3]
    is_value = (index.op, read.op) == ("CONST", "LOAD_SUBSCR") and type(index.arg) is int and index.arg == 1
    if not is_value or run.state.symbols.sort(handling) != "caught":
        return False
    run.give(slots, handling)
    run.side.place = place + 3
    return True


def push_exc_info(run: Running) -> bool:
    """Handle an exception from now on."""
    exception, before = run.top(), run.side.handling
    run.side.handling = exception
    return run.give(1, before, exception)


def pop_except(run: Running) -> bool:
    """Handle what was handled before."""
    run.side.handling = run.top()
    return run.give(1)


def reraise(run: Running) -> bool:
    """Raise an exception again as it is."""
    return not run.groups and run.throw(run.item.handler, run.top())


def raise_again(run: Running) -> bool:
    """Raise again what is being handled, where it was caught here."""
    handling = run.state.resolve(run.side.handling)
    if run.item.arg or run.groups or run.state.symbols.sort(handling) != "caught":
        return False
    return run.throw(run.item.handler, handling)


QUIET: dict[str, Callable[[Running], bool | Fork]] = {
    "NULL": lambda run: run.give(0, run.state.symbols.null),
    "POP": lambda run: run.give(1),
    "COPY": lambda run: run.give(0, run.top(run.count)),
    "SWAP": swap,
    "CONST": lambda run: run.give(0, run.state.symbols.constant(run.item.arg)),
    "LOAD_FAST": load_fast,
    "STORE_FAST": store_fast,
    "DELETE_FAST": delete_fast,
    "LOAD_FAST_CLEAR": load_fast_clear,
    "LOAD_CLOSURE": lambda run: run.give(0, run.state.symbols.of("cell", run.name)),
    "JUMP": jump,
    "JUMP_IF_TRUE": jump_if,
    "JUMP_IF_FALSE": jump_if,
    "TO_BOOL": to_bool,
    "UNARY": unary,
    "BINARY": binary,
    "INPLACE": binary,
    "COMPARE": binary,
    "IS": identity,
    "BUILD_TUPLE": containers.build_tuple,
    "BUILD_LIST": containers.build_list,
    "BUILD_SET": containers.build_set,
    "BUILD_MAP": containers.build_map,
    "BUILD_CONST_KEY_MAP": containers.build_const_key_map,
    "BUILD_SLICE": containers.build_slice,
    "BUILD_STRING": lambda run: run.give(run.count, run.state.symbols.of("string", None, run.many(run.count))),
    "LOAD_SUBSCR": containers.load_subscr,
    "LIST_APPEND": containers.list_append,
    "LIST_EXTEND": containers.list_extend,
    "SET_UPDATE": containers.set_update,
    "LOAD_ATTR": containers.load_attr,
    "LOAD_METHOD": containers.load_method,
    "UNPACK_SEQUENCE": containers.unpack_sequence,
    "MAKE_FUNCTION": make_function,
    "CALL": call,
    "PUSH_EXC_INFO": push_exc_info,
    "POP_EXCEPT": pop_except,
    "RERAISE": reraise,
    "RAISE": raise_again,
}
