"""Raw instructions, and the names and constants in their arguments."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from depyf.bytecode.code import Code
from depyf.bytecode.records import dataclass
from depyf.bytecode.versions.table import OpcodeTable
from depyf.errors import DecompilationError


class Step(NamedTuple):
    """One normalised operation of a raw instruction.

    op: an operation of `depyf.bytecode.operations`.
    arg: its argument.
    jumps: whether the raw instruction's jump target belongs to this operation.
    """

    op: str
    arg: object = None
    jumps: bool = False

    def __eq__(self, other: object) -> bool:
        """Compare steps; constants by identity, because their own `==` runs code of the program."""
        if not isinstance(other, Step) or (self.op, self.jumps) != (other.op, other.jumps):
            return False
        return self.arg is other.arg or (self.op != "CONST" and self.arg == other.arg)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.op, self.jumps))


Steps = tuple[Step, ...]


@dataclass(slots=True)
class RawInstruction:
    """One instruction of the interpreter, including its EXTENDED_ARG prefixes and caches.

    name: opcode name.
    arg: argument, prefixes applied.
    start, offset, end: byte offsets of the first prefix, of the opcode, and after the last cache.
    """

    name: str
    arg: int
    start: int
    offset: int
    end: int


@dataclass(slots=True)
class Pool:
    """The tables that the arguments of one code object index.

    locals: variable names by index of `LOAD_FAST`.
    cells: cell and free variable names by index of `LOAD_DEREF`.
    """

    code: Code
    table: OpcodeTable
    locals: tuple[str, ...]
    cells: tuple[str, ...]
    cell_names: frozenset[str]
    null_above: bool


@dataclass(slots=True)
class Operand:
    """The argument of one raw instruction, decoded on demand; invalid indices raise `DecompilationError`."""

    pool: Pool
    raw: RawInstruction

    def fail(self, reason: str) -> NoReturn:
        """Refuse this instruction."""
        raise DecompilationError(f"{self.raw.name}: {reason}", code=str(self.pool.code), offset=self.raw.offset)

    def pick(self, items: tuple[object, ...], index: int, what: str) -> object:
        """Return one item of a table of the code object or of the version.

        Args:
            items: a table of the code object (names, constants) or of the version (operators, intrinsics).
            index: the position in the table, as the raw instruction gives it.
            what: the plural noun for the items in the error message.

        Raises:
            DecompilationError: the index is out of range.
        """
        if 0 <= index < len(items):
            return items[index]
        self.fail(f"index {index} is out of range, there are {len(items)} {what}")

    def const(self) -> object:
        """Return the constant."""
        return self.pick(self.pool.code.consts, self.raw.arg, "constants")

    def name(self, shift: int = 0) -> object:
        """Return the name; `shift` low bits of the argument are flags."""
        return self.pick(self.pool.code.names, self.raw.arg >> shift, "names")

    def local(self, index: int) -> str:
        """Return the variable with an explicit index (superinstructions have two in one argument)."""
        name = self.pick(self.pool.locals, index, "local variables")
        assert isinstance(name, str)
        return name

    def cell(self) -> object:
        """Return the cell or free variable."""
        return self.pick(self.pool.cells, self.raw.arg, "cell and free variables")
