"""Three-address code: basic blocks whose operations name their operands.

The value stack is gone: every value that an operation makes has a number, its *temporary*, and every operation lists
the temporaries that it uses. COPY, SWAP and NULL disappear. If control flow merges with different values in one stack
position, there is a *phi*, with one argument on each edge to the block (SSA form; Braun et al., "Simple and Efficient
Construction of Static Single Assignment Form", 2013).

Local variables are not renamed: LOAD_FAST and STORE_FAST stay operations.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field

from depyf.bytecode.code import Code
from depyf.bytecode.constants import key
from depyf.bytecode.listing import Extent
from depyf.bytecode.places import Place, Places
from depyf.bytecode.records import dataclass

NULL = -1
"""The temporary of a missing `self`."""
KEEP = "KEEP"
"""The operation that assigns its argument to a temporary, for the values on a handler's stack.

Unlike a phi, it is not set on edges, and it may be set again while the handler's code still uses the previous value.
"""
SELF = -2
"""The temporary of the second value that LOAD_METHOD pushes."""


@dataclass(slots=True)
class Inst:
    """One operation.

    op: operation of `depyf.bytecode.operations`, or one of this stage: EXPR (a folded expression; `arg` is a
        `Compound`).
    uses: temporaries read, in their order on the stack.
    defs: temporaries made.
    """

    op: str
    arg: object
    uses: list[int]
    defs: list[int]
    line: int | None
    offset: int


HALVES = frozenset({"LOAD_FAST", "STORE_FAST"})
"""The operations that one instruction can perform in pairs."""
JOINED = "EXPR"
"""The operation for an expression that was joined from several blocks; its argument compares like that expression."""


def operation_key(inst: Inst) -> tuple[str, Hashable]:
    """Return a key that two instructions share exactly when they do the same operation with the same argument.

    The key ignores operands. Constants are distinguished as in `bytecode.constants.key`, which runs no code of the
    program: `1`, `1.0` and `True` differ, and an object without a literal equals only itself.
    """
    return inst.op, _argument(inst)


def same_operation(left: Inst, right: Inst) -> bool:
    """Return whether two instructions do the same operation with the same argument, ignoring operands."""
    return left.op == right.op and (left.arg is right.arg or _argument(left) == _argument(right))


def is_second_half(insts: list[Inst], number: int) -> bool:
    """Return whether an operation on a variable is the second of two in one instruction.

    The first operation has the place of the instruction; the second has none.
    """
    if not number:
        return False
    first, second = insts[number - 1], insts[number]
    return first.offset == second.offset >= 0 and first.op in HALVES and second.op in HALVES


def _argument(inst: Inst) -> Hashable:
    """Return a key for the argument of an instruction; a joined expression has its own key."""
    return inst.arg if inst.op == JOINED else key(inst.arg)


@dataclass(slots=True)
class Edge:
    """A control flow edge to block `target`; `args` are the values of its phis."""

    target: int
    args: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Goto:
    """Follow an edge."""

    edge: Edge

    def edges(self) -> list[Edge]:
        """Return the outgoing edges, the likely one first, an apparent fallthrough last."""
        return [self.edge]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here, without the arguments of edges."""
        return []


@dataclass(slots=True)
class Leave:
    """Follow an edge, and keep the place of the jump for later passes.

    beyond: where the compiler wrote code as if control continued from here: see `Return`.
    explicit: a `break` or `continue` of the source does this, even if control would get there without it.
    """

    edge: Edge
    beyond: Edge | None
    explicit: bool

    def edges(self) -> list[Edge]:
        """Return the outgoing edges, the likely one first, an apparent fallthrough last."""
        return [self.edge] if self.beyond is None else [self.edge, self.beyond]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here, without the arguments of edges."""
        return []


@dataclass(slots=True)
class Branch:
    """Test a value and follow one of two edges.

    near: whether the edge for true, or that for false, leads to the code that follows; None if that is unknown.
    """

    cond: int
    if_true: Edge
    if_false: Edge
    line: int | None = None
    near: bool | None = None

    def edges(self) -> list[Edge]:
        """Return the outgoing edges, the likely one first, an apparent fallthrough last."""
        return [self.if_true, self.if_false]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here, without the arguments of edges."""
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
        """Return the outgoing edges, the likely one first, an apparent fallthrough last."""
        return [self.body, self.done]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here, without the arguments of edges."""
        return [self.iterator]


@dataclass(slots=True)
class Return:
    """Return a value; NULL stands for None.

    beyond: the apparent fallthrough: where the compiler wrote code as if control continued from here, if known. Control
        never goes there; the edge shows the order of the source's statements. `Raise` and `Reraise` have it too.
    offset: that of the `return` in the code, -1 if it is unknown.
    """

    value: int
    line: int | None = None
    beyond: Edge | None = None
    offset: int = -1

    def edges(self) -> list[Edge]:
        """Return the outgoing edges, the likely one first, an apparent fallthrough last."""
        return [] if self.beyond is None else [self.beyond]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here, without the arguments of edges."""
        return [self.value]


@dataclass(slots=True)
class Raise:
    """`operands`: none (re-raise the exception being handled), an exception, or an exception and its cause.

    offset: that of the `raise` in the code, -1 if it is unknown.
    """

    operands: list[int]
    line: int | None = None
    beyond: Edge | None = None
    offset: int = -1

    def edges(self) -> list[Edge]:
        """Return the outgoing edges, the likely one first, an apparent fallthrough last."""
        return [] if self.beyond is None else [self.beyond]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here, without the arguments of edges."""
        return list(self.operands)


@dataclass(slots=True)
class Reraise:
    """Raise `exc` again unchanged; the implicit end of a handler."""

    exc: int
    beyond: Edge | None = None

    def edges(self) -> list[Edge]:
        """Return the outgoing edges, the likely one first, an apparent fallthrough last."""
        return [] if self.beyond is None else [self.beyond]

    def reads(self) -> list[int]:
        """Return the temporaries that are read here, without the arguments of edges."""
        return [self.exc]


@dataclass(slots=True)
class Stop:
    """Unreachable: a statement before it never ends by itself."""

    def edges(self) -> list[Edge]:
        """Return the outgoing edges, the likely one first, an apparent fallthrough last."""
        return []

    def reads(self) -> list[int]:
        """Return the temporaries that are read here, without the arguments of edges."""
        return []


Exit = Goto | Leave | Branch | ForIter | Return | Raise | Reraise | Stop


@dataclass(slots=True)
class Block:
    """A basic block.

    `handler` is an index in `Graph.handlers`, or -1; `stack` is the stack at its start; `offset` is that of its first
    operation in the code.
    """

    index: int
    insts: list[Inst]
    exit: Exit
    handler: int
    phis: list[int] = field(default_factory=list)
    stack: list[int] = field(default_factory=list)
    offset: int = -1


@dataclass(slots=True)
class HandlerEntry:
    """The entry of a handler.

    Exceptions go to block `target`. `exc` is the exception's temporary, `lasti` that of the saved offset, or NULL.
    `slots` hold the stack at the places where the handler may be entered; its `phis` take these values over.
    """

    target: int
    exc: int
    lasti: int
    slots: list[int] = field(default_factory=list)
    phis: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Graph:
    """Blocks by index (None for a removed block), block 0 first."""

    code: Code
    blocks: list[Block | None]
    handlers: list[HandlerEntry]
    temps: int
    source_order: bool = False
    """Whether the operations have their offsets in the order of the source."""
    loops: list[Extent] = field(default_factory=list)
    """The extents of loop statements, if the code shows them; a loop starts at a block."""
    negates: bool = True
    """Whether `not a in b` in a test would be another operation than `a in b`."""
    is_kept: bool = True
    """Whether the code is written as it is; otherwise in the most readable form."""
    exact_ranges: bool = False
    """Whether every jump has the handler of its statement."""
    hints: dict[int, str] = field(default_factory=dict)
    """Names for temporaries, should they need one."""
    waiting: dict[int, list[int]] = field(default_factory=dict)
    """The stack below a tested value, by the value's temporary."""
    parting: dict[int, set[int]] = field(default_factory=dict)
    """By tested value: the values that the two ways on drop from the stack separately."""
    end: int = -1
    """The block that all returns of None share, once `structure/nests.py` has made it.

    In the order of the source, it is at the place of the last return.
    """
    places: Places = field(default_factory=list)
    """The source location of each 2-byte unit, if the code has locations and they are wanted."""
    guarded: dict[int, bool] = field(default_factory=dict)
    """Whether the handler of its statement protects the test of a temporary. It tells how operands are grouped."""
    unsure: set[int] = field(default_factory=set)
    """Temporaries read from variables that may have been unbound: reading them may raise."""

    def new_block(self, insts: list[Inst], exit_: Exit, handler: int, stack: list[int], offset: int = -1) -> Block:
        """Append a block without phis to the graph, and return it.

        Args:
            insts: the operations.
            exit_: how the block ends.
            handler: the index of the handler that protects it, or -1.
            stack: the temporaries on the stack at its start, the lowest first.
            offset: the location of a block without operations, in bytes.
        """
        offset = insts[0].offset if insts else offset
        block = Block(len(self.blocks), insts, exit_, handler, [], stack, offset)
        self.blocks.append(block)
        return block

    def place(self, offset: int) -> Place | None:
        """Return the source location of the instruction at an offset, or None if it is unknown."""
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
    """Return the apparent fallthrough of an exit: an edge that control never takes, or None."""
    return exit_.beyond if isinstance(exit_, (Leave, Return, Raise, Reraise)) else None
