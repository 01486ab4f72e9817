"""A program to assemble: blocks of abstract operations, each with the kinds of values that it finds on the stack.

The operations are those of `depyf.bytecode.operations`, with what a literal operand needs in their argument. A kind is
what the interpreter must be able to rely on, because it does not check: an iterator under FOR_ITER, a list under
LIST_APPEND, a null where a call wants one.

    o observed   b bool   N None   t text   i iterator   L list   D dict   S set   T tuple   X exception class
    c cell   C1 C2 tuple of so many cells   f function   e exception   v any value
    n null   u value or null   m s a method and its `self`   p what was being handled   q the same, put back
    E list of exceptions   r exception or None
    l saved offset   x z what leaves a manager, to be awaited or not   y that manager   a asynchronous iterator
"""

from __future__ import annotations

from dataclasses import dataclass, field

Kinds = tuple[str, ...]
NO_VALUES = frozenset("nupqmslxyza")
GENERATOR, COROUTINE, ASYNC_GENERATOR = "generator", "coroutine", "async generator"
ASYNC = frozenset({COROUTINE, ASYNC_GENERATOR})
FREE_VARIABLES = (0, 1, 2)
"""How many free variables each of the nested functions has."""
PLAIN_EXITS = frozenset({"goto", "return", "raise", "reraise"})


@dataclass(frozen=True)
class Op:
    """One operation."""

    name: str
    arg: object = None


@dataclass(frozen=True)
class Exit:
    """The end of a block.

    kind: goto, true, false, none, not_none, true_or_pop, false_or_pop, for, return, raise, reraise.
    targets: blocks by index, the one that is jumped to first; then the one that follows.
    arg: how many operands `raise` has; how deep the offset of `reraise` is.
    """

    kind: str
    targets: tuple[int, ...] = ()
    arg: int = 0


@dataclass
class Block:
    """Operations that run one after the other.

    entry: what lies on the stack at the start.
    region: the handler of all of it, by index, or -1.
    fuel: whether to ask for fuel first, and to leave if there is none.
    """

    entry: Kinds
    ops: list[Op] = field(default_factory=list)
    exit: Exit = Exit("return")
    region: int = -1
    fuel: bool = False


@dataclass(frozen=True)
class Region:
    """A handler: the block it begins with, how many values stay on the stack, whether the offset is saved.

    native: `with` or `async with` for one that asks the exit on top of what is kept, and goes to the block when that
        suppresses the exception; `async for` for one that goes there when the iterator on top has ended. For versions
        where what such handlers find on the stack is no kind of its own.
    """

    target: int
    kept: Kinds
    lasti: bool = False
    native: str = ""

    @property
    def entry(self) -> Kinds:
        """What lies on the stack when the handler begins."""
        if self.native:
            return self.kept[:-1] if self.native == "async for" else self.kept
        return (*self.kept, *(("l",) if self.lasti else ()), "e")


@dataclass
class Program:
    """A function of the parameters a, b, c.

    order: the blocks as they stand in the code; block 0 is the first.
    mode: what kind of generator it is, where it is one.
    noise: the seed of what means nothing: NOPs, prefixes, which of several encodings.
    """

    version: tuple[int, int]
    blocks: list[Block]
    regions: list[Region]
    order: list[int]
    generator: bool = False
    noise: int = 0
    mode: str = GENERATOR


def may_stand(program: Program, modes: frozenset[str] | None) -> bool:
    """Return whether what stands in code of certain modes only may stand in a program."""
    return modes is None or (program.generator and program.mode in modes)


def is_value(kind: str) -> bool:
    """Return whether a kind is an object of the program's."""
    return kind not in NO_VALUES


def fits(have: str, want: str) -> bool:
    """Return whether a value of one kind can be where another is expected."""
    return have == want or (want == "v" and is_value(have)) or (want == "u" and (is_value(have) or have == "n"))


def all_fit(have: Kinds, want: Kinds) -> bool:
    """Return whether a stack can be where another is expected."""
    return len(have) == len(want) and all(map(fits, have, want))
