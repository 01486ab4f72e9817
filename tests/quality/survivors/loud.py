"""What others see one side do: where it stands, of which values it does it, and how it goes on."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from depyf.bytecode.constants import key
from depyf.bytecode.listing import Instruction
from depyf.bytecode.operations import OPERATIONS
from tests.quality.survivors.containers import METHOD
from tests.quality.survivors.running import Running
from tests.quality.survivors.symbols import NotFollowed, Term

KEPT = {
    "CHECK_EXC_MATCH": 1,
    "GET_LEN": 1,
    "MATCH_MAPPING": 1,
    "MATCH_SEQUENCE": 1,
    "MATCH_KEYS": 2,
    "IMPORT_FROM": 1,
    "FOR_ITER": 1,
    "SEND": 1,
    "GET_ANEXT": 1,
}
"""Operations that leave what they look at on the stack, and how many values of those that they take."""
GROWS = {"LIST_APPEND": 1, "SET_ADD": 1, "MAP_ADD": 2, "LIST_EXTEND": 1, "SET_UPDATE": 1, "DICT_UPDATE": 1,
         "DICT_MERGE": 1}  # fmt: skip
"""Operations on a container deeper in the stack, and how many values they put into it."""
TRUTH = ("truth",)
TESTS = ("JUMP_IF_TRUE", "JUMP_IF_FALSE", "TO_BOOL", "UNARY")


@dataclass(frozen=True, slots=True)
class Way:
    """One way on: to which place, with how many values less on the stack, and which then on it (None: a new one)."""

    place: int
    pops: int
    pushes: tuple[Term | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Loud:
    """Something that others see: what is done, of which values, the ways on from it, and whether it may raise."""

    kind: tuple[Hashable, ...]
    operands: tuple[Term, ...]
    ways: tuple[Way, ...]
    raises: bool = True


def standing(run: Running) -> Loud:
    """Return what a side does next that others see. Raises `NotFollowed` where it left the frame."""
    item = run.item
    if item.op in TESTS and (item.op != "UNARY" or item.arg == "not"):
        return test(run, item)
    if item.op in ("LOAD_FAST", "DELETE_FAST"):
        return Loud(("unbound", str(item.arg)), (), ())
    if item.op in GROWS:
        return growing(run, item)
    if item.op == "CALL":
        return call(run, item)
    if item.op in ("RETURN", "RERAISE"):
        return Loud((item.op,), (run.top(),), (), raises=item.op == "RERAISE")
    return plain(run, item)


def test(run: Running, item: Instruction) -> Loud:
    """Ask for a truth; the first way is that of what is true."""
    after, truth = run.side.place + 1, run.state.symbols.truth
    if item.op == "JUMP_IF_TRUE":
        ways = Way(item.target, 1), Way(after, 1)
    elif item.op == "JUMP_IF_FALSE":
        ways = Way(after, 1), Way(item.target, 1)
    else:
        is_not = item.op == "UNARY"
        ways = Way(after, 1, (truth[not is_not],)), Way(after, 1, (truth[is_not],))
    return Loud(TRUTH, (run.top(),), ways)


def growing(run: Running, item: Instruction) -> Loud:
    """Put something into a container."""
    count, depth = GROWS[item.op], item.arg
    if not isinstance(depth, int):
        raise NotFollowed
    way = Way(run.side.place + 1, count)
    return Loud((item.op,), (run.top(count + depth), *run.many(count)), (way,))


def call(run: Running, item: Instruction) -> Loud:
    """Call something, wherever the null of the call stands; of the method of a list that is the list."""
    plain_call = plain(run, item)
    operands = tuple(term for term in plain_call.operands if term != run.state.symbols.null)
    method = run.state.made.get(operands[0])
    if method is None or not isinstance(method.how, tuple) or method.how[0] != METHOD:
        return Loud(("CALL", len(operands)), operands, plain_call.ways)
    return Loud(("CALL", len(operands), method.how), (*method.items, *operands[1:]), plain_call.ways)


def plain(run: Running, item: Instruction) -> Loud:
    """Do any other operation: what it takes are its operands, what it leaves is new."""
    operation = OPERATIONS[item.op]
    pops, pushes = operation.effect(item.arg)
    kept = item.arg if item.op == "WITH_EXCEPT_START" else KEPT.get(item.op, 0)
    if not isinstance(kept, int):
        raise NotFollowed
    ways = [following(run, run.side.place + 1, pops, pushes, kept)] if operation.falls else []
    if operation.jump_effect is not None:
        pops, pushes = operation.jump_effect(item.arg)
        ways.append(following(run, item.target, pops, pushes, min(kept, pushes)))
    return Loud((item.op, key(item.arg)), run.many(pops), tuple(ways), operation.raises)


def following(run: Running, place: int, pops: int, pushes: int, kept: int) -> Way:
    """Return a way on with some values kept and the others new."""
    return Way(place, pops, (*run.many(pops)[:kept], *[None] * (pushes - kept)))
