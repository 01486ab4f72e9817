"""What nobody can see one side do: moves, constants, numbers that stand in the code, new objects, known jumps.

`step` does one such instruction. Where it does not, control stands at something that others see (`loud`), or two ways
are possible and no code is run to decide between them: that is `Fork`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Instruction, Listing
from tools.survivors.symbols import NUMBERS, Made, NotFollowed, Side, State, Term

LEFT = -1
"""Where a side stands whose exception left the frame; the exception is all of its stack."""
LIMIT = 1 << 64
METHOD = "method"
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


@dataclass(frozen=True, slots=True)
class Fork:
    """Two ways on that no code decides: of a test of identity, or of a variable that may be unbound.

    term: the value that is one thing or another.
    """

    term: Term


@dataclass(slots=True)
class Running:
    """One side at work.

    groups: whether tracebacks matter in this code: then to raise again is something that others see.
    """

    listing: Listing
    state: State
    side: Side
    groups: bool

    @property
    def item(self) -> Instruction:
        """The instruction where the side stands."""
        if not 0 <= self.side.place < len(self.listing.instructions):
            raise NotFollowed
        return self.listing.instructions[self.side.place]

    @property
    def name(self) -> str:
        """The argument of the instruction, which is a name or a sign."""
        return str(self.item.arg)

    @property
    def count(self) -> int:
        """The argument of the instruction, which is a number."""
        if not isinstance(self.item.arg, int):
            raise NotFollowed
        return self.item.arg

    @property
    def pair(self) -> tuple[object, object]:
        """The argument of the instruction, which is two things."""
        match self.item.arg:
            case (first, second):
                return first, second
        raise NotFollowed

    def top(self, depth: int = 1) -> Term:
        """Return a value on the stack, 1 for the top."""
        if not 1 <= depth <= len(self.side.stack):
            raise NotFollowed
        return self.state.resolve(self.side.stack[-depth])

    def give(self, pops: int, *terms: Term) -> bool:
        """Replace what is on top of the stack, and go on."""
        if pops > len(self.side.stack):
            raise NotFollowed
        del self.side.stack[len(self.side.stack) - pops :]
        self.side.stack.extend(terms)
        self.side.place += 1
        return True

    def many(self, count: int) -> tuple[Term, ...]:
        """Return what is on top of the stack, the deepest first."""
        return tuple(self.top(depth) for depth in range(count, 0, -1))

    def throw(self, handler: int, exception: Term) -> bool:
        """Go where an exception goes: to a handler by number, or out of the frame (-1)."""
        side = self.side
        if handler < 0:
            side.stack, side.place = [exception], LEFT
            return True
        found = self.listing.handlers[handler]
        if len(side.stack) < found.depth:
            raise NotFollowed
        side.stack[found.depth :] = [*([self.state.symbols.of("lasti")] if found.lasti else []), exception]
        side.place = found.target
        return True


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
        found = COMPUTED[run.name](*values)
    except TypeError:
        return False
    return abs(found) < LIMIT and run.give(2, symbols.constant(found))


def identity(run: Running) -> bool | Fork:
    """Tell whether two values are one object."""
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


def build_tuple(run: Running) -> bool:
    """Make a tuple, which is its items."""
    return run.give(run.count, run.state.symbols.of("tuple", None, run.many(run.count)))


def build_list(run: Running) -> bool:
    """Make a list."""
    return run.give(run.count, run.state.make("list", run.many(run.count)))


def build_set(run: Running) -> bool:
    """Make a set of numbers and texts, which are hashed by no code of the program."""
    items = run.many(run.count)
    return are_plain(run, items) and run.give(run.count, run.state.make("set", items))


def are_plain(run: Running, terms: tuple[Term, ...]) -> bool:
    """Tell whether values are numbers and texts of the code."""
    return all(type(run.state.symbols.values.get(one, ...)) in (*NUMBERS, str) for one in terms)


def build_map(run: Running) -> bool:
    """Make a dict whose keys are constants."""
    flat = run.many(2 * run.count)
    return dict_of(run, flat[::2], flat[1::2], 2 * run.count)


def build_const_key_map(run: Running) -> bool:
    """Make a dict of a constant tuple of keys."""
    keys = run.state.items(run.top())
    return (
        keys is not None and len(keys) == run.count and dict_of(run, keys, run.many(run.count + 1)[:-1], run.count + 1)
    )


def dict_of(run: Running, keys: tuple[Term, ...], values: tuple[Term, ...], pops: int) -> bool:
    """Make a dict, if its keys are numbers and texts."""
    return are_plain(run, keys) and run.give(pops, run.state.make(("dict", keys), values))


def build_slice(run: Running) -> bool:
    """Make a slice, which looks at nothing."""
    return run.give(run.count, run.state.symbols.of("slice", None, bounds_of(run, run.count)))


def bounds_of(run: Running, count: int) -> tuple[Term, ...]:
    """Return the three bounds of a slice of which two or three are given."""
    return (*run.many(count), run.state.symbols.constant(None))[:3]


def load_subscr(run: Running) -> bool:
    """Take a slice of a list that nobody has seen, between places that stand in the code."""
    owner, index = run.many(2)
    made, node = run.state.made.get(owner), run.state.symbols.nodes[index]
    if made is None or made.how != "list" or node.what != "slice":
        return False
    bounds: list[int | None] = []
    for item in node.items:
        bound = run.state.symbols.values.get(run.state.resolve(item), ...)
        if bound is not None and not isinstance(bound, int):
            return False
        bounds.append(bound)
    first, last, stride = bounds
    return stride != 0 and run.give(2, run.state.make("list", made.items[first:last:stride]))


def grow(run: Running, owner: Term, items: tuple[Term, ...] | None) -> bool:
    """Let a list grow that nobody has seen, by what is known."""
    made = run.state.made.get(owner)
    if made is None or made.how != "list" or items is None:
        return False
    run.state.made[owner] = Made("list", made.items + items)
    return True


def list_append(run: Running) -> bool:
    """Put one value into a new list."""
    return grow(run, run.top(run.count + 1), run.many(1)) and run.give(1)


def list_extend(run: Running) -> bool:
    """Put the items of a tuple or new list into a new list."""
    return grow(run, run.top(run.count + 1), run.state.items(run.top())) and run.give(1)


def load_attr(run: Running) -> bool:
    """Make the method of a list that was made here: its type is exactly that, and nobody can change it."""
    made = method_of(run, run.name)
    return made is not None and run.give(1, made)


def load_method(run: Running) -> bool:
    """Make the method of a list to call it; the list stands in it, and no second time."""
    name, shape = run.pair
    made, null = method_of(run, str(name)), run.state.symbols.null
    return made is not None and run.give(1, *((null, made) if shape == "below" else (made, null)))


def method_of(run: Running, name: str) -> Term | None:
    """Return a method of the list on top of the stack, if that is surely one."""
    owner = run.top()
    made = run.state.made.get(owner)
    is_list = made.how == "list" if made is not None else run.state.symbols.sort(owner) == "list"
    is_method = hasattr([], name) and not name.startswith("_")
    return run.state.make((METHOD, name), (owner,)) if is_list and is_method else None


def unpack_sequence(run: Running) -> bool:
    """Take a tuple or list apart that is known."""
    items = run.state.items(run.top())
    return items is not None and len(items) == run.count and run.give(1, *reversed(items))


def make_function(run: Running) -> bool:
    """Make a function."""
    flags = run.count & 15
    *parts, code = run.many(1 + flags.bit_count())
    value = run.state.symbols.values.get(code)
    if not isinstance(value, Code):
        raise NotFollowed
    return run.give(len(parts) + 1, run.state.make(("function", flags), tuple(parts), value))


def call(run: Running) -> bool:
    """Do a call that nobody sees: of `append` or `extend` of a new list, of `slice`, or of `sys.exc_info`."""
    count, shape = run.pair
    slots = 1 if shape == "plain" else 2
    if not isinstance(count, int):
        raise NotFollowed
    called = run.many(slots + count)[1 if shape == "below" else 0]
    if run.state.symbols.values.get(called) is sys.exc_info:
        return not count and take_handled(run, slots)
    if run.state.symbols.values.get(called) is slice and count in (2, 3):
        return run.give(slots + count, run.state.symbols.of("slice", None, bounds_of(run, count)))
    made = run.state.made.get(called)
    if made is None or count != 1 or made.how not in ((METHOD, "append"), (METHOD, "extend")):
        return False
    value = run.top()
    items = (value,) if made.how == (METHOD, "append") else run.state.items(value)
    owner = run.state.resolve(made.items[0])
    return grow(run, owner, items) and run.give(slots + 1, run.state.symbols.constant(None))


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
    "BUILD_TUPLE": build_tuple,
    "BUILD_LIST": build_list,
    "BUILD_SET": build_set,
    "BUILD_MAP": build_map,
    "BUILD_CONST_KEY_MAP": build_const_key_map,
    "BUILD_SLICE": build_slice,
    "BUILD_STRING": lambda run: run.give(run.count, run.state.symbols.of("string", None, run.many(run.count))),
    "LOAD_SUBSCR": load_subscr,
    "LIST_APPEND": list_append,
    "LIST_EXTEND": list_extend,
    "LOAD_ATTR": load_attr,
    "LOAD_METHOD": load_method,
    "UNPACK_SEQUENCE": unpack_sequence,
    "MAKE_FUNCTION": make_function,
    "CALL": call,
    "PUSH_EXC_INFO": push_exc_info,
    "POP_EXCEPT": pop_except,
    "RERAISE": reraise,
    "RAISE": raise_again,
}
