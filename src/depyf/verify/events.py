"""The next observable of a side."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeGuard

from depyf.bytecode.constants import key
from depyf.bytecode.listing import Instruction
from depyf.bytecode.records import dataclass
from depyf.verify.async_loops import ends
from depyf.verify.callee import CALLS, called_node
from depyf.verify.constants import NAME_STORES, placed
from depyf.verify.effects import EFFECTS, GROWERS, NEVER_RAISE, Effect, effect_of
from depyf.verify.frame import Frame
from depyf.verify.known_calls import (
    awaited_known,
    entered,
    exception_parts,
    imported,
    on_group,
    takes_iterator,
)
from depyf.verify.methods import called
from depyf.verify.own_cells import OWN, own_effect
from depyf.verify.silent import known_truth
from depyf.verify.state import LEAVE
from depyf.verify.terms import CAUGHT, Constant, Node, NotUnderstood, Null, Pure, Sort, Symbol, Term, TupleOf

Results = tuple[Term, ...]


def nothing(results: Results) -> Results:
    """Put no results on the stack."""
    return ()


@dataclass(slots=True)
class Outcome:
    """One way on from an observable. Immutable by convention, as events are; unfrozen classes are faster.

    place: the next instruction of this side.
    results: sort and detail of each new value.
    pops: the number of values that leave the stack first.
    pushes: the values to push, given the results.
    handled: the index of the result that becomes the exception being handled; -1 keeps the current one.
    """

    place: int
    results: tuple[Symbol, ...] = ()
    pops: int = 0
    pushes: Callable[[Results], tuple[Term, ...]] = nothing
    handled: int = -1


@dataclass(slots=True)
class Event:
    """An observable. It is the same on both sides if the kinds are equal and the operands are related.

    outcomes: the ways on, in an order that the kind fixes; empty if the frame ends or the operation always raises.
    can_raise: whether it may also raise an exception.
    settles: the value of a variable that cannot be null once this has succeeded.
    """

    kind: tuple[Hashable, ...]
    operands: tuple[Term, ...]
    outcomes: tuple[Outcome, ...]
    can_raise: bool = True
    settles: Term | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """A branch on an unknown truth value. It runs no code, and the walk follows both ways."""

    truth: Term


PLAIN = Symbol(Sort.PLAIN)
TRUTH_TEST = "truth test"
CLASS_FACTS = ("__firstlineno__", "__static_attributes__")


def standing(frame: Frame, lengths: Mapping[str, int]) -> Event | Split:
    """Return the next operation of a side that is not silent. Raises `NotUnderstood`."""
    if frame.side.place == LEAVE:
        return Event(("leave by an exception",), (frame.peek(),), (), can_raise=False)
    item = frame.look()
    special = SPECIAL.get(item.op)
    if special is not None:
        return special(frame, item)
    if item.op == "CALL":
        node = called_node(frame)
        if isinstance(node, Constant):
            known = known_call(frame, item)
            if known is not None:
                return known
        elif isinstance(node, Pure) and (method := called(frame)) is not None:
            return do_method(frame, item, *method)
    if item.op in CALLS:
        return call(frame, *CALLS[item.op](frame, item), lengths)
    if item.op in GROWERS:
        return grow(frame, item, GROWERS[item.op])
    effect = effect_of(item.op, item.arg)
    if effect is None:
        raise NotUnderstood(f"{item.op} is not understood here")
    return plain(frame, item, effect)


def known_call(frame: Frame, item: Instruction) -> Event | None:
    """Return the operation that a call of a constant performs, or None for an unknown constant."""
    if (taking := takes_iterator(frame)) is not None:
        slots = 1 if item.arg[1] == "plain" else 2  # type: ignore[index]
        results = (Symbol(taking[1]),)
        return one_way(frame, item, frame.top(1), results, 1 + slots, lambda new: new, (taking[0], key(None)))
    if (operation := entered(frame)) is not None:
        return enter(frame, item, operation)
    if (awaited := awaited_known(frame)) is not None:
        return await_known(frame, item, awaited)
    if (group := on_group(frame)) is not None:
        slots = 1 if item.arg[1] == "plain" else 2  # type: ignore[index]
        return ON_GROUPS[group](frame, 2 + slots, lambda values: (frame.terms.tuple_of(values),))
    if (known := imported(frame)) is not None:
        return import_known(frame, item, *known)
    return None


def plain(frame: Frame, item: Instruction, effect: Effect) -> Event:
    """Return an observable that pops values and pushes results according to its effect.

    Args:
        frame: the side of the proof.
        item: its instruction.
        effect: the values that it pops and pushes.
    """
    taken = frame.top(effect.pops)
    if item.op in NAME_STORES and item.arg in CLASS_FACTS:
        return one_way(frame, item, tuple(class_fact(frame, term) for term in taken), (), 1, lambda results: ())
    gives = effect.gives
    if item.op in ("UNPACK_SEQUENCE", "UNPACK_EX"):
        # The first item must be on top.
        return one_way(frame, item, taken, effect.results, effect.pops, lambda results: results[::-1])
    if len(effect.results) == len(gives):
        return one_way(frame, item, taken, effect.results, effect.pops, as_they_come)

    def pushes(results: Results) -> tuple[Term, ...]:
        new = iter(results)
        return tuple([taken[give] if isinstance(give, int) else next(new) for give in gives])

    return one_way(frame, item, taken, effect.results, effect.pops, pushes)


def as_they_come(results: Results) -> Results:
    """Return results in the order in which they are pushed."""
    return results


def class_fact(frame: Frame, term: Term) -> Term:
    """Return the value of a store in a class body, without the parts that depend on the class's place in its file."""
    value = literal(frame, term)
    if value is None:
        return term
    return frame.terms.constant(placed(frame.listing, frame.side.place, value[0]))


def literal(frame: Frame, term: Term) -> tuple[object] | None:
    """Return, in a 1-tuple, the value of a constant or of a tuple of constants."""
    match frame.node(term):
        case Constant(value=value):
            return (value,)
        case TupleOf(items=items):
            nodes = [frame.node(item) for item in items]
            values = tuple(node.value for node in nodes if isinstance(node, Constant))
            return (values,) if len(values) == len(nodes) else None
        case _:
            return None


def one_way(
    frame: Frame,
    item: Instruction,
    operands: tuple[Term, ...],
    results: tuple[Symbol, ...],
    pops: int,
    pushes: Callable[[Results], tuple[Term, ...]],
    kind: tuple[Hashable, ...] | None = None,
) -> Event:
    """Return an observable with one outcome, the next instruction.

    Args:
        frame: the side of the proof.
        item: its instruction.
        operands: the values that the observable takes.
        results: the symbols for its results.
        pops: the number of stack slots that it pops.
        pushes: returns the values to push, for the results.
        kind: the identity of the operation; by default the instruction's name and argument.
    """
    outcome = Outcome(frame.side.place + 1, results, pops, pushes)
    return Event(kind or (item.op, key(item.arg)), operands, (outcome,), item.op not in NEVER_RAISE)


def enter(frame: Frame, item: Instruction, operation: str) -> Event:
    """Return the call that enters a context manager: one operation, its two results as a tuple.

    Args:
        frame: the side of the proof.
        item: its instruction.
        operation: the operation that enters the manager.
    """
    pops = 2 if item.arg[1] == "plain" else 3  # type: ignore[index]
    pair = frame.terms.tuple_of
    return one_way(
        frame, item, frame.top(1), (PLAIN, PLAIN), pops, lambda results: (pair(results),), (operation, key(None))
    )


def import_known(
    frame: Frame, item: Instruction, operation: str, name: str, operands: tuple[Term, ...], count: int
) -> Event:
    """Return the call that imports a module, or takes a name from one.

    Args:
        frame: the side of the proof.
        item: its instruction.
        operation: the operation that imports.
        name: the name of the module, or in it.
        operands: the values that the operation takes.
        count: the number of operands on the stack.
    """
    pops = count + (1 if item.arg[1] == "plain" else 2)  # type: ignore[index]
    return one_way(frame, item, operands, (PLAIN,), pops, lambda results: results, (operation, key(name)))


def await_known(frame: Frame, item: Instruction, kind: tuple[Hashable, ...]) -> Event:
    """Return the call of a function whose result is awaited next. Together they are one operation.

    Args:
        frame: the side of the proof.
        item: its instruction.
        kind: the identity of the operation.
    """
    slots = 1 if item.arg[1] == "plain" else 2  # type: ignore[index]
    outcome = Outcome(frame.side.place + 2, (PLAIN,), 1 + slots, lambda results: results)
    return Event(kind, frame.top(1), (outcome,))


def do_method(frame: Frame, item: Instruction, operation: str, operands: tuple[Term, ...], slots: int) -> Event:
    """Return the call of a container's method that performs an operation; operands: the container first.

    Args:
        frame: the side of the proof.
        item: its instruction.
        operation: the operation.
        operands: the container, and the values that the operation takes.
        slots: the number of stack slots of the callee.
    """
    none, pops = frame.terms.constant(None), len(operands) - 1 + slots
    return one_way(frame, item, operands, (), pops, lambda results: (none,), (operation,))


def store_item(frame: Frame, item: Instruction) -> Event:
    """Return the store of an item; on an exact dict it equals MAP_ADD."""
    value, owner, index = frame.top(3)
    if frame.state.exact_type(owner) is Sort.DICT:
        return one_way(frame, item, (owner, index, value), (), 3, lambda results: (), ("MAP_ADD",))
    return plain(frame, item, EFFECTS[item.op])


def grow(frame: Frame, item: Instruction, pops: int) -> Event:
    """Return the change of a container further down the stack.

    Args:
        frame: the side of the proof.
        item: its instruction, with the depth of the container.
        pops: the number of values that are added.
    """
    if not isinstance(item.arg, int):
        raise NotUnderstood(f"{item.op} without a depth")
    operands = (frame.peek(item.arg + pops), *frame.top(pops))
    return one_way(frame, item, operands, (), pops, lambda results: (), (item.op,))


def bound(frame: Frame, item: Instruction) -> Event:
    """Return the check that a variable is bound."""
    name = str(item.arg)
    value = frame.state.resolve(frame.side.variables.get(name, frame.terms.null))
    if isinstance(frame.node(value), Null):
        return Event(("read of the unbound variable", name), (), ())
    again = Outcome(frame.side.place)
    return Event(("check that a variable is bound", name), (value,), (again,), settles=value)


def jump_if(frame: Frame, item: Instruction) -> Event | Split:
    """Return the truth test of a conditional jump, or the branch on a truth value."""
    value = frame.peek()
    known = known_truth(frame)
    if known is not None:
        node = frame.node(known)
        return Split(node.items[0] if isinstance(node, Pure) and node.op == "not" else known)
    return truth_test(frame, value, frame.side.place, lambda truth: truth)


def truth_test(frame: Frame, value: Term, place: int, use: Callable[[Term], Term]) -> Event:
    """Return the observable that replaces the top of the stack by its truth.

    Args:
        frame: the side of the proof.
        value: the value to test.
        place: the next instruction.
        use: returns the value to push, for the truth.
    """
    outcome = Outcome(place, (Symbol(Sort.BOOL),), 1, lambda results: (use(results[0]),))
    return Event((TRUTH_TEST,), (value,), (outcome,))


def to_bool(frame: Frame, item: Instruction) -> Event:
    """Return the truth test of TO_BOOL."""
    return truth_test(frame, frame.peek(), frame.side.place + 1, lambda truth: truth)


def unary(frame: Frame, item: Instruction) -> Event:
    """Return a unary operator; `not` is a truth test."""
    if item.arg != "not":
        return plain(frame, item, Effect(1, (Sort.PLAIN,)))
    terms = frame.terms
    return truth_test(frame, frame.peek(), frame.side.place + 1, lambda truth: terms.pure("not", (truth,)))


def contains(frame: Frame, item: Instruction) -> Event:
    """Return a membership test, the same for both polarities."""
    terms, inverted = frame.terms, bool(item.arg)

    def pushes(results: Results) -> tuple[Term, ...]:
        return (terms.pure("not", results) if inverted else results[0],)

    return one_way(frame, item, frame.top(2), (Symbol(Sort.BOOL),), 2, pushes, (item.op,))


def load_global(frame: Frame, item: Instruction) -> Event:
    """Return the load of a global or of a name; the result for a global records the name."""
    result = Symbol(Sort.GLOBAL, str(item.arg)) if item.op == "LOAD_GLOBAL" else PLAIN
    return one_way(frame, item, (), (result,), 0, lambda results: results)


def load_method(frame: Frame, item: Instruction) -> Event:
    """Return the load of an attribute for a call: two values on the stack that together stand for it."""
    name = item.arg[0] if isinstance(item.arg, tuple) else None
    terms = frame.terms

    def pushes(results: Results) -> tuple[Term, ...]:
        return terms.pure("method", results), terms.pure("self", results)

    if item.op == "LOAD_METHOD":
        return one_way(frame, item, frame.top(1), (PLAIN,), 1, pushes, ("LOAD_ATTR", key(name)))
    kind = ("LOAD_SUPER_ATTR", key(item.arg[:2] if isinstance(item.arg, tuple) else None))
    return one_way(frame, item, frame.top(3), (PLAIN,), 3, pushes, kind)


def for_iter(frame: Frame, item: Instruction) -> Event:
    """Return the step of an iterator: a next value, or its end."""
    more = Outcome(frame.side.place + 1, (PLAIN,), 0, lambda results: results)
    end = Outcome(item.target, (), 1)
    return Event(("FOR_ITER",), frame.top(1), (more, end))


Pack = Callable[[Results], Results]


def part_group(frame: Frame, pops: int, pack: Pack) -> Event:
    """Return the test of an `except*` clause.

    If the clause matches, the matching part of the group becomes the exception being handled. Else nothing changes.

    Args:
        frame: the side of the proof.
        pops: the number of stack slots that the test pops.
        pack: returns the values to push, for the rest of the group and the matching part.
    """
    place, (exception, kind) = frame.side.place + 1, frame.top(2)
    none = frame.terms.constant(None)
    matched = Outcome(place, (PLAIN, CAUGHT), pops, pack, handled=1)
    other = Outcome(place, (), pops, lambda results: pack((exception, none)))
    return Event(("CHECK_EG_MATCH",), (exception, kind), (matched, other))


def gather_group(frame: Frame, pops: int, pack: Pack) -> Event:
    """Return the end of an `except*`: an exception to raise, or None.

    Args:
        frame: the side of the proof.
        pops: the number of stack slots that it pops.
        pack: is not used.
    """
    place, none = frame.side.place + 1, frame.terms.constant(None)
    some = Outcome(place, (CAUGHT,), pops, lambda results: results)
    nothing = Outcome(place, (), pops, lambda results: (none,))
    return Event(("PREP_RERAISE_STAR",), frame.top(2), (some, nothing))


ON_GROUPS = {"CHECK_EG_MATCH": part_group, "PREP_RERAISE_STAR": gather_group}


def return_value(frame: Frame, item: Instruction) -> Event:
    """Return the end of the frame with a value."""
    return Event(("RETURN",), frame.top(1), (), can_raise=False)


def raise_varargs(frame: Frame, item: Instruction) -> Event:
    """Return a raise; its only way on is an exception."""
    count = item.arg if isinstance(item.arg, int) else 0
    return Event(("RAISE", count), frame.top(count), ())


def with_except_start(frame: Frame, item: Instruction) -> Event:
    """Return the call of a context manager's exit with the exception on the stack, as a call with three operands."""
    if not isinstance(item.arg, int):
        raise NotUnderstood("WITH_EXCEPT_START without a depth")
    operands = (frame.peek(item.arg), *exception_parts(frame, frame.peek()))
    return one_way(frame, item, operands, (PLAIN,), 0, lambda results: results, ("CALL", 3, ()))


def call(
    frame: Frame,
    function: Term,
    operands: tuple[Term, ...],
    kind: tuple[Hashable, ...],
    pops: int,
    lengths: Mapping[str, int],
) -> Event:
    """Return a call. Its result may be a sequence by assumption.

    Args:
        frame: the side of the proof.
        function: the callee.
        operands: its operands.
        kind: the identity of the operation.
        pops: the number of stack slots that it pops.
        lengths: the lengths of the results of some globals, by assumption.
    """
    node = frame.node(function)
    result = PLAIN
    if is_global(node) and node.detail in lengths:
        result = Symbol(Sort.SEQUENCE, lengths[str(node.detail)])
    return one_way(frame, frame.item, (function, *operands), (result,), pops, lambda results: results, kind)


def is_global(node: Node) -> TypeGuard[Symbol | Pure]:
    """Return whether a node is the value of the global that its detail names."""
    return (isinstance(node, Symbol) and node.sort is Sort.GLOBAL) or (isinstance(node, Pure) and node.op == "global")


def own_cell(frame: Frame, item: Instruction) -> Event:
    """Return an operation on a variable for which a comprehension makes a cell."""
    effect, can_raise = own_effect(item)
    event = plain(frame, item, effect)
    event.can_raise = can_raise
    return event


SPECIAL: dict[str, Callable[[Frame, Instruction], Event | Split]] = {
    OWN: own_cell,
    "LOAD_FAST": bound,
    "DELETE_FAST": bound,
    "JUMP_IF_TRUE": jump_if,
    "JUMP_IF_FALSE": jump_if,
    "TO_BOOL": to_bool,
    "UNARY": unary,
    "CONTAINS": contains,
    "LOAD_GLOBAL": load_global,
    "LOAD_NAME": load_global,
    "LOAD_METHOD": load_method,
    "STORE_SUBSCR": store_item,
    "LOAD_SUPER_METHOD": load_method,
    "FOR_ITER": for_iter,
    "END_ASYNC_FOR": lambda frame, item: Split(ends(frame)),
    "CHECK_EG_MATCH": lambda frame, item: part_group(frame, 2, lambda values: values),
    "PREP_RERAISE_STAR": lambda frame, item: gather_group(frame, 2, lambda values: values),
    "RETURN": return_value,
    "RAISE": raise_varargs,
    "WITH_EXCEPT_START": with_except_start,
}
