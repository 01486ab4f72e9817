"""One side of a state, with the stack operations of symbolic execution."""

from __future__ import annotations

from depyf.bytecode.listing import Instruction, Listing
from depyf.verify.state import LEAVE, Side, State
from depyf.verify.terms import Constant, Node, NotUnderstood, Pure, Sort, Term, Terms

THROWN = "thrown"
"""An exception with one more traceback entry, if the code looks at tracebacks. The frame's caller does not look."""


class Frame:
    """The execution of one listing. The terms that it returns are resolved.

    terms: the table of terms.
    item: the current instruction, set by `look`.
    """

    __slots__ = ("item", "listing", "side", "state", "terms")
    item: Instruction

    def __init__(self, listing: Listing, state: State, side: Side) -> None:
        self.listing = listing
        self.state = state
        self.side = side
        self.terms: Terms = state.terms

    def look(self) -> Instruction:
        """Return the current instruction. Raises `NotUnderstood` past the end of the code."""
        place, instructions = self.side.place, self.listing.instructions
        if 0 <= place < len(instructions):
            self.item = instructions[place]
            return self.item
        raise NotUnderstood("control runs off the end of the code")

    def pop(self) -> Term:
        """Pop the top of the stack."""
        stack, state = self.side.stack, self.state
        if not stack:
            raise NotUnderstood("the stack is empty")
        return state.resolve(stack.pop()) if state.bound else stack.pop()

    def pop_many(self, count: int) -> tuple[Term, ...]:
        """Pop several values, the deepest first."""
        taken = self.top(count)
        if count:
            del self.side.stack[-count:]
        return taken

    def push(self, term: Term) -> None:
        """Push a value."""
        self.side.stack.append(term)

    def peek(self, depth: int = 1) -> Term:
        """Return the value `depth` deep, 1 for the top."""
        stack, state = self.side.stack, self.state
        if not 1 <= depth <= len(stack):
            raise NotUnderstood("the stack is not deep enough")
        return state.resolve(stack[-depth]) if state.bound else stack[-depth]

    def top(self, count: int) -> tuple[Term, ...]:
        """Return the topmost values, the deepest first."""
        if count <= 0:
            return ()
        stack, state = self.side.stack, self.state
        if count > len(stack):
            raise NotUnderstood("the stack is not deep enough")
        taken = stack[-count:]
        return tuple([state.resolve(term) for term in taken]) if state.bound else tuple(taken)

    def next(self) -> bool:
        """Advance to the next instruction; return True, because nothing observable was done."""
        self.side.place += 1
        return True

    def node(self, term: Term) -> Node:
        """Return the node of a term."""
        return self.terms.nodes[term]

    def constant(self, term: Term) -> Constant | None:
        """Return the node of a term that is a constant."""
        node = self.node(term)
        return node if isinstance(node, Constant) else None

    def raise_known(self, exception: Term) -> None:
        """Re-raise an exception at the current instruction: go to its handler, or leave the frame."""
        enter_handler(self, self.item.handler, exception)


def as_raised(frame: Frame, exception: Term) -> Term:
    """Return an exception in its state before it was thrown."""
    node = frame.node(exception)
    return node.items[0] if isinstance(node, Pure) and node.op == THROWN else exception


def enter_handler(frame: Frame, number: int, exception: Term) -> None:
    """Enter the handler with this number (-1: leave the frame) with an exception."""
    side, terms = frame.side, frame.terms
    if number < 0:
        side.stack, side.place = [as_raised(frame, exception)], LEAVE
        return
    handler = frame.listing.handlers[number]
    if len(side.stack) < handler.depth:
        raise NotUnderstood("the stack is less deep than its handler says")
    del side.stack[handler.depth :]
    if handler.lasti:
        # An offset in one code has no counterpart in the other.
        side.stack.append(terms.symbol(Sort.LOST))
    side.stack.append(exception)
    side.place = handler.target
