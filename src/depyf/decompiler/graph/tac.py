"""Three-address code: basic blocks whose operations name their operands.

The value stack is gone: every value an operation makes has a number, its *temporary*,
and every operation lists the temporaries that it uses. COPY, SWAP and NULL leave nothing
behind. Where control flow merges with different values in one stack position there is a
*phi*, with one argument on each edge that leads to the block (SSA form; Braun et al.,
"Simple and Efficient Construction of Static Single Assignment Form", 2013).

Local variables are not renamed: LOAD_FAST and STORE_FAST stay operations.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from depyf.bytecode.code import Code
from depyf.bytecode.constants import key
from depyf.bytecode.listing import Extent
from depyf.bytecode.places import Place, Places

NULL = -1
"""The temporary of a missing `self`."""
KEEP = "KEEP"
"""The operation that assigns to a temporary, its argument: what a handler finds on the stack. Unlike a phi, that is not
set on edges, and may be set anew while the handler's code still uses what it found the last time."""
SELF = -2
"""The temporary of the second value that LOAD_METHOD pushes."""


@dataclass(slots=True)
class Inst:
    """One operation.

    op: operation of `depyf.bytecode.operations`, or one of this stage: EXPR (a folded
        expression; `arg` is a `Compound`).
    uses: temporaries read, in the order they lie on the stack.
    defs: temporaries made.
    """

    op: str
    arg: object
    uses: list[int]
    defs: list[int]
    line: int | None
    offset: int


HALVES = frozenset({"LOAD_FAST", "STORE_FAST"})
"""The operations of instructions that do two of them."""
JOINED = "EXPR"
"""The operation that stands for an expression of several blocks; its argument compares as that does."""


def operation_key(inst: Inst) -> tuple[str, Hashable]:
    """Return a key that two instructions share exactly when they do the same operation with the same argument.

    Operands are not part of it. Constants are told apart as `bytecode.constants.key` does, which runs nothing of the
    program's: `1`, `1.0` and `True` differ, and an object without a literal is the same only as itself.
    """
    return inst.op, _argument(inst)


def same_operation(one: Inst, two: Inst) -> bool:
    """Return whether two instructions do the same operation with the same argument, operands aside."""
    return one.op == two.op and (one.arg is two.arg or _argument(one) == _argument(two))


def is_second_half(insts: list[Inst], number: int) -> bool:
    """Return whether an operation on a variable is the second of two that one instruction does.

    That instruction has the place of the first one; the second has none.
    """
    if not number:
        return False
    first, second = insts[number - 1], insts[number]
    return first.offset == second.offset >= 0 and first.op in HALVES and second.op in HALVES


def _argument(inst: Inst) -> Hashable:
    """Return what tells the argument of an instruction from others: an expression that was put together says it."""
    return inst.arg if inst.op == JOINED else key(inst.arg)


@dataclass(slots=True)
class Edge:
    """A way to block `target`; `args` are the values of its phis."""

    target: int
    args: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Goto:
    """Go along an edge."""

    edge: Edge

    def edges(self) -> list[Edge]:
        """Return the edges that lead on, the likely first; where control only seems to go on is the last."""
        return [self.edge]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here (arguments of edges not counted)."""
        return []


@dataclass(slots=True)
class Leave:
    """Go along an edge, and keep this place: there is more to know of it.

    beyond: where the compiler wrote code as if control went on from here: see `Return`.
    explicit: a `break` or `continue` of the source does this, even where control would get there by itself.
    """

    edge: Edge
    beyond: Edge | None
    explicit: bool

    def edges(self) -> list[Edge]:
        """Return the edges that lead on, the likely first; where control only seems to go on is the last."""
        return [self.edge] if self.beyond is None else [self.edge, self.beyond]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here (arguments of edges not counted)."""
        return []


@dataclass(slots=True)
class Branch:
    """Test a value and go along one of two edges.

    near: whether the edge for true, or that for false, leads to what comes next in the code; None if that is not known.
    """

    cond: int
    if_true: Edge
    if_false: Edge
    line: int | None = None
    near: bool | None = None

    def edges(self) -> list[Edge]:
        """Return the edges that lead on, the likely first; where control only seems to go on is the last."""
        return [self.if_true, self.if_false]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here (arguments of edges not counted)."""
        return [self.cond]


@dataclass(slots=True)
class ForIter:
    """Take the next `value` of `iterator`: then `body`, or `done` when it is exhausted."""

    iterator: int
    value: int
    body: Edge
    done: Edge
    line: int | None = None
    is_async: bool = False

    def edges(self) -> list[Edge]:
        """Return the edges that lead on, the likely first; where control only seems to go on is the last."""
        return [self.body, self.done]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here (arguments of edges not counted)."""
        return [self.iterator]


@dataclass(slots=True)
class Return:
    """Return a value; NULL stands for None.

    beyond: where the compiler wrote code as if control went on from here, as far as it is known. Control never goes
        there; it shows how the statements of the source stood. `Raise` and `Reraise` have the same.
    offset: that of the `return` in the code, -1 if it is not known.
    """

    value: int
    line: int | None = None
    beyond: Edge | None = None
    offset: int = -1

    def edges(self) -> list[Edge]:
        """Return the edges that lead on, the likely first; where control only seems to go on is the last."""
        return [] if self.beyond is None else [self.beyond]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here (arguments of edges not counted)."""
        return [self.value]


@dataclass(slots=True)
class Raise:
    """`operands`: nothing (re-raise what is being handled), an exception, or that and its cause.

    offset: that of the `raise` in the code, -1 if it is not known.
    """

    operands: list[int]
    line: int | None = None
    beyond: Edge | None = None
    offset: int = -1

    def edges(self) -> list[Edge]:
        """Return the edges that lead on, the likely first; where control only seems to go on is the last."""
        return [] if self.beyond is None else [self.beyond]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here (arguments of edges not counted)."""
        return list(self.operands)


@dataclass(slots=True)
class Reraise:
    """Raise `exc` again as it is; the implicit end of a handler."""

    exc: int
    beyond: Edge | None = None

    def edges(self) -> list[Edge]:
        """Return the edges that lead on, the likely first; where control only seems to go on is the last."""
        return [] if self.beyond is None else [self.beyond]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here (arguments of edges not counted)."""
        return [self.exc]


@dataclass(slots=True)
class Stop:
    """Control never comes here: a statement before it never ends by itself."""

    def edges(self) -> list[Edge]:
        """Return the edges that lead on, the likely first; where control only seems to go on is the last."""
        return []

    def reads(self) -> list[int]:
        """Return the temporaries that are read here (arguments of edges not counted)."""
        return []


Exit = Goto | Leave | Branch | ForIter | Return | Raise | Reraise | Stop


@dataclass(slots=True)
class Block:
    """A basic block. `handler` is an index in `Graph.handlers`, or -1; `stack` is what lies on the
    stack at its start; `offset` is that of its first operation in the code."""

    index: int
    insts: list[Inst]
    exit: Exit
    handler: int
    phis: list[int] = field(default_factory=list)
    stack: list[int] = field(default_factory=list)
    offset: int = -1


@dataclass(slots=True)
class HandlerEntry:
    """Where exceptions go: block `target`; `exc` is the exception's temporary, `lasti` that of
    the saved offset, or NULL. `slots` hold what is on the stack where it may be entered; its `phis` take that over."""

    target: int
    exc: int
    lasti: int
    slots: list[int] = field(default_factory=list)
    phis: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Graph:
    """Blocks by index (None where a block has been removed), block 0 first."""

    code: Code
    blocks: list[Block | None]
    handlers: list[HandlerEntry]
    temps: int
    source_order: bool = False
    """Whether the operations have their offsets in the order of the source."""
    loops: list[Extent] = field(default_factory=list)
    """How far the statements of loops reach, where the code says it; a loop starts at a block."""
    negates: bool = True
    """Whether `not a in b` would be another operation in a test than `a in b`."""
    is_kept: bool = True
    """Whether the code is written as it is; else as it reads best."""
    exact_ranges: bool = False
    """Whether every jump is protected by what protects the statement that it belongs to."""
    hints: dict[int, str] = field(default_factory=dict)
    """Names for temporaries, should they need one."""
    waiting: dict[int, list[int]] = field(default_factory=dict)
    """What lies on the stack where a value is tested, by the value's temporary."""
    end: int = -1
    """The block that returns None for all, once `structure/nests.py` has made it; where they stand in the order of the
    source, for the last of them."""
    places: Places = field(default_factory=list)
    """Where each 2-byte unit of the code stands in the source, if the code says it and that is wanted."""
    unsure: set[int] = field(default_factory=set)
    """Temporaries read from variables that may have been unbound: reading them may raise."""

    def new_block(self, insts: list[Inst], exit_: Exit, handler: int, stack: list[int], offset: int = -1) -> Block:
        """Append a block without phis; one without operations stands at `offset`."""
        offset = insts[0].offset if insts else offset
        block = Block(len(self.blocks), insts, exit_, handler, [], stack, offset)
        self.blocks.append(block)
        return block

    def place(self, offset: int) -> Place | None:
        """Return where the instruction at an offset stands in the source, if that is known."""
        unit = offset >> 1
        return self.places[unit] if 0 <= unit < len(self.places) else None

    def new_temp(self) -> int:
        """Return a fresh temporary."""
        self.temps += 1
        return self.temps - 1

    def block(self, index: int) -> Block:
        """Return the block with that index, which must exist."""
        block = self.blocks[index]
        assert block is not None, f"block {index} was removed"
        return block

    def live(self) -> list[Block]:
        """Return all blocks that exist, by index."""
        return list(filter(None, self.blocks))


def seeming(exit_: Exit) -> Edge | None:
    """Return the edge along which control only seems to go on."""
    return exit_.beyond if isinstance(exit_, (Leave, Return, Raise, Reraise)) else None
