"""One listing as a machine of steps: each place has a step, and the step has successors.

If the steps of two listings agree from the entry on, both run the same instructions on every path. A step ignores
details that a source cannot or need not express. These are jumps, the order of blocks, the polarity of a conditional
jump, and a second test of a value whose truth is known. Also ignored are the order of moves in a run of SWAP,
STORE_FAST and POP, and the handlers of instructions that cannot raise.
"""

from __future__ import annotations

from collections.abc import Hashable

from depyf.bytecode.code import Code
from depyf.bytecode.constants import key
from depyf.bytecode.listing import Handler
from depyf.bytecode.records import dataclass
from depyf.verify.constants import NAME_STORES, function_name, placed
from depyf.verify.flow import Flow, successors

ENDLESS = -1
OFF_THE_END = -2

MOVES = frozenset({"SWAP", "STORE_FAST", "POP"})
CANNOT_RAISE = MOVES | {
    "CONST",
    "COPY",
    "NULL",
    "POP_EXCEPT",
    "PUSH_EXC_INFO",
    "LOAD_CLOSURE",
    "LOAD_COMMON",
    "LOAD_FAST_CLEAR",
    "IS",
    "RETURN",
    "BUILD_TUPLE",
    "BUILD_LIST",
    "MAKE_FUNCTION",
    "SET_FUNCTION_ATTRIBUTE",
}


@dataclass(slots=True)
class Step:
    """The step at a place. Immutable by convention.

    label: all that must be equal in the other listing.
    successors: the places that follow, in an order that the label fixes.
    raises: the instruction that may raise here, or -1.
    nested: the code object in place of the label, which is compared separately.
    """

    label: tuple[Hashable, ...]
    successors: tuple[int, ...]
    raises: int = -1
    nested: Code | None = None


@dataclass(slots=True)
class Test:
    """A conditional jump on the top of the stack. Immutable by convention.

    when: the truth value on which it jumps.
    keeps: whether the value stays on the stack if it jumps; otherwise it is always popped.
    """

    place: int
    when: bool
    keeps: bool
    target: int
    after: int


class Paths:
    """The steps of one listing. A place is an index of an instruction, ENDLESS or OFF_THE_END."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.listing = flow.listing
        self.instructions = flow.listing.instructions
        self.settled: dict[int, int] = {}

    def settle(self, place: int) -> int:
        """Return the place after unconditional jumps; ENDLESS for an empty loop."""
        passed = []
        while True:
            known = self.settled.get(place)
            if known is not None:
                break
            if not 0 <= place < len(self.instructions):
                known = OFF_THE_END
                break
            if self.instructions[place].op != "JUMP":
                known = place
                break
            self.settled[place] = ENDLESS
            passed.append(place)
            place = self.instructions[place].target
        for jump in passed:
            self.settled[jump] = known
        return known

    def test(self, place: int) -> Test | None:
        """Return the conditional jump that begins at a place, or None."""
        item = self.instructions[place]
        if item.op in ("JUMP_IF_TRUE", "JUMP_IF_FALSE"):
            return Test(place, item.op == "JUMP_IF_TRUE", False, item.target, place + 1)
        if item.op != "COPY" or item.arg != 1:
            return None
        jump = self.settle(place + 1)
        if jump < 0 or self.instructions[jump].op not in ("JUMP_IF_TRUE", "JUMP_IF_FALSE"):
            return None
        pop = self.settle(jump + 1)
        if pop < 0 or self.instructions[pop].op != "POP":
            return None
        taken = self.instructions[jump]
        return Test(jump, taken.op == "JUMP_IF_TRUE", True, taken.target, pop + 1)

    def follow(self, place: int, truth: bool) -> tuple[int, bool]:
        """Follow the tests of a stack value with known truth: return where they end, and whether it is still there."""
        seen = set()
        while True:
            place = self.settle(place)
            if place in seen:
                return ENDLESS, True
            seen.add(place)
            test = self.test(place) if place >= 0 else None
            if test is None:
                return place, True
            if test.when != truth:
                return self.settle(test.after), False
            if not test.keeps:
                return self.settle(test.target), False
            place = test.target

    def step(self, place: int) -> Step:
        """Return the step at a place that `settle` returned."""
        if place < 0:
            return Step(("END", place), ())
        test = self.test(place)
        if test is not None:
            return self.test_step(test)
        item = self.instructions[place]
        if item.op in MOVES:
            return self.moves(place)
        following = tuple([self.settle(after) for after in successors(place, item)])
        if item.op == "CONST":
            nested = item.arg if isinstance(item.arg, Code) else None
            return Step(("CONST", self.constant(place)), following, place, nested)
        if item.op == "MAKE_FUNCTION":
            name = key(function_name(self.listing, item))
            return Step((item.op, key(item.arg), name), following, place)
        return Step((item.op, key(item.arg)), following, place)

    def test_step(self, test: Test) -> Step:
        """Return the step of a conditional jump, the same for both polarities."""
        taken = self.follow(test.target, test.when) if test.keeps else (self.settle(test.target), False)
        other = (self.settle(test.after), False)
        (true, kept_true), (false, kept_false) = (taken, other) if test.when else (other, taken)
        return Step(("TEST", kept_true, kept_false), (true, false), test.place)

    def moves(self, place: int) -> Step:
        """Return a longest run of SWAP, STORE_FAST and POP as one step.

        The label records the depth of the rewritten stack, the final value of each variable, and the remaining stack.
        """
        depth = 0
        stack: list[int] = []
        stores: dict[object, int] = {}
        seen = set()
        while place >= 0 and place not in seen and self.instructions[place].op in MOVES:
            seen.add(place)
            item = self.instructions[place]
            need = item.arg if item.op == "SWAP" and isinstance(item.arg, int) else 1
            if len(stack) < need:
                missing = need - len(stack)
                stack[:0] = range(depth + missing - 1, depth - 1, -1)
                depth += missing
            if item.op == "SWAP":
                stack[-1], stack[-need] = stack[-need], stack[-1]
            elif item.op == "STORE_FAST":
                stores[item.arg] = stack.pop()
            else:
                stack.pop()
            place = self.settle(place + 1)
        untouched = 0
        while untouched < len(stack) and stack[untouched] == depth - 1:
            untouched += 1
            depth -= 1
        return Step(("MOVES", depth, tuple(sorted(stores.items())), tuple(stack[untouched:])), (place,))

    def can_raise(self, place: int) -> bool:
        """Return whether the instruction at a place can raise; a read of a variable that is surely bound cannot."""
        item = self.instructions[place]
        if item.op == "LOAD_FAST":
            return not self.flow.bound[place] & self.flow.bit[str(item.arg)]
        if item.op in ("BUILD_MAP", "BUILD_SET"):
            return item.arg != 0
        return item.op not in CANNOT_RAISE

    def handler(self, step: Step) -> Handler | None:
        """Return the handler of a step, or None if there is none or if nothing there can raise."""
        number = self.instructions[step.raises].handler if step.raises >= 0 else -1
        return self.listing.handlers[number] if number >= 0 and self.can_raise(step.raises) else None

    def constant(self, place: int) -> Hashable:
        """Return the key of a constant, without the parts that depend on its place in the file."""
        value = self.instructions[place].arg
        if isinstance(value, Code):
            return "code"
        after = self.settle(place + 1)
        if after < 0 or self.instructions[after].op not in NAME_STORES:
            return key(value)
        return key(placed(self.listing, after, value) if after == place + 1 else value)
