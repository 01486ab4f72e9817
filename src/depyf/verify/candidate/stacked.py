"""Keep the values of variables that only the text has on the stack, if code may look at its frame's variables.

before: y = f(x); g = sys._getframe(); return h(g, y)    the frame shows `y`, and the original has no such variable
after:  the value of `y` is at the bottom of the stack once the text stores it; a read copies or moves it

The compiler treats these variables as globals. It does not optimise their instructions, and each is replaced in place.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Collection, Iterator, Mapping

from depyf.bytecode.depths import stack_depths
from depyf.bytecode.listing import Instruction
from depyf.bytecode.normalise import normalise
from depyf.bytecode.operations import OPERATIONS
from depyf.bytecode.reader import read
from depyf.errors import DecompilationError
from depyf.verify.candidate.last_reads import is_function
from depyf.verify.candidate.layout import parameter_count
from depyf.verify.candidate.patch import Words
from depyf.verify.frame_readers import may_read_frame, reads_frame

Slots = tuple[str, ...]
"""The variables whose values are on the stack, from the bottom."""
BINDS = ("STORE_FAST", "STORE_DEREF")


class NoStack(DecompilationError):
    """The values of some variables cannot be on the stack."""


def own_variables(standin: types.CodeType, original: types.CodeType, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables of a stand-in that its original never binds, if code may look at the variables.

    Args:
        standin: the code compiled from the source.
        original: the code that it stands for.
        names: identifiers in the text that stand for other names in `original`.
    """
    code = read(original)
    if not may_read_frame(code):
        return ()
    listing = normalise(code)
    bound = {item.arg for item in listing.instructions if item.op in BINDS}
    plain = [name for name in standin.co_varnames[parameter_count(standin) :] if name not in standin.co_cellvars]
    unbound = [name for name in plain if names.get(name, name) not in bound]
    return tuple(unbound) if unbound and reads_frame(listing) else ()


def declare(tree: ast.Module, function: str, variables: Collection[str]) -> None:
    """Make the compiler treat some variables of a function as globals.

    Args:
        tree: the tree of the module, which is changed.
        function: the name of the function.
        variables: the names of the variables.
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_function(node, function):
            is_docstring = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
            declaration = ast.copy_location(ast.Global(names=sorted(variables)), node.body[0])
            node.body.insert(1 if is_docstring else 0, declaration)


def keep_on_stack(code: types.CodeType, variables: Collection[str], *, lets_go: bool) -> types.CodeType:
    """Return the code with some of its globals as values on the stack.


    Raises `NoStack` if that is impossible. A value is stored above other values or twice, merging paths have different
    values on the stack, exceptions are handled, or this version cannot copy from the stack.

    Args:
        code: the code compiled from the source.
        variables: the names of the globals.
        lets_go: whether the last read of a variable moves its value, as the original does.
    """
    return _Stack(code, variables, lets_go=lets_go).rewritten()


class _Stack:
    """A code object with the values of some globals on its stack."""

    def __init__(self, code: types.CodeType, variables: Collection[str], *, lets_go: bool) -> None:
        self.code, self.variables = code, variables
        self.words, self.listing = Words(code), normalise(read(code))
        if self.listing.handlers or "COPY" not in self.words.number:
            raise NoStack("values cannot be on the stack here", code=self.words.name)
        self.depths = stack_depths(self.listing)
        self.raws = {raw.offset: raw for raw in self.words.raws}
        self.last = self.last_reads() if lets_go else frozenset()
        self.before: dict[int, Slots] = {}
        """The variables on the stack before each reachable instruction."""

    def rewritten(self) -> types.CodeType:
        self.follow()
        replacements: dict[int, bytes] = {}
        for index, slots in sorted(self.before.items()):
            item = self.listing.instructions[index]
            if self.names_one(item):
                replacements[item.offset] = replacements.get(item.offset, b"") + self.on_stack(index, slots)
            elif item.op == "NULL" and any(map(self.names_one, self.of_offset(index))):
                replacements[item.offset] = replacements.get(item.offset, b"") + self.words.encode("PUSH_NULL", 0)
        for offset, encoded in replacements.items():
            self.words.overwrite(self.raws[offset], encoded, keep_caches=False)
        most = 1 + max(map(len, self.before.values()))
        return self.code.replace(co_code=bytes(self.words.data), co_stacksize=self.code.co_stacksize + most)

    def follow(self) -> None:
        """Find the variables on the stack before each instruction."""
        pending: list[tuple[int, Slots]] = [(0, ())]
        while pending:
            index, slots = pending.pop()
            if index in self.before:
                if self.before[index] != slots:
                    raise self.fail(index, "merging paths have different values on the stack")
                continue
            self.before[index] = slots
            after = self.after(index, slots) if self.names_one(self.listing.instructions[index]) else slots
            pending += [(following, after) for following in self.following(index)]

    def following(self, index: int) -> Iterator[int]:
        item = self.listing.instructions[index]
        if item.target >= 0:
            yield item.target
        if index in self.listing.beyond:
            yield self.listing.beyond[index].target
        if OPERATIONS[item.op].falls:
            yield index + 1

    def after(self, index: int, slots: Slots) -> Slots:
        """Return the variables on the stack after an instruction that names one."""
        item, depth = self.listing.instructions[index], self.depths[index]
        name = str(item.arg)
        if item.op == "STORE_GLOBAL" and depth == 1 and name not in slots:
            return (*slots, name)
        if item.op == "DELETE_GLOBAL" and depth == 0 and slots[-1:] == (name,):
            return slots[:-1]
        if item.op == "LOAD_GLOBAL" and name in slots:
            return tuple(slot for slot in slots if slot != name) if self.takes(index, slots) else slots
        raise self.fail(index, f"the value of {name} cannot be on the stack")

    def on_stack(self, index: int, slots: Slots) -> bytes:
        """Return the instructions that do on the stack what an instruction does with a variable."""
        encode, op = self.words.encode, self.listing.instructions[index].op
        if op != "LOAD_GLOBAL":
            return encode("NOP" if op == "STORE_GLOBAL" else "POP_TOP", 0)
        way = self.way(index, slots)
        if self.takes(index, slots):
            return b"".join(encode("SWAP", depth) for depth in range(2, way + 1))
        return encode("COPY", way)

    def takes(self, index: int, slots: Slots) -> bool:
        """Return whether a read moves the value: it is the last read, and there is room for the instruction."""
        raw = self.raws[self.listing.instructions[index].offset]
        others = len(self.of_offset(index)) - 1
        return index in self.last and self.way(index, slots) - 1 + others <= (raw.end - raw.start) // 2

    def way(self, index: int, slots: Slots) -> int:
        """Return the depth of the value that an instruction reads, 1 for the top of the stack."""
        return len(slots) + self.depths[index] - slots.index(str(self.listing.instructions[index].arg))

    def of_offset(self, index: int) -> list[Instruction]:
        """Return the operations of an operation's instruction: the load, and the NULL of a call."""
        near = self.listing.instructions[max(index - 1, 0) : index + 2]
        return [item for item in near if item.offset == self.listing.instructions[index].offset]

    def names_one(self, item: Instruction) -> bool:
        """Return whether an instruction stores, loads or deletes one of the variables."""
        return item.op in ("STORE_GLOBAL", "LOAD_GLOBAL", "DELETE_GLOBAL") and item.arg in self.variables

    def last_reads(self) -> frozenset[int]:
        """Return the reads after which no path reads their variable again."""
        items = self.listing.instructions
        live: list[frozenset[object]] = [frozenset()] * (len(items) + 1)
        changed = True
        while changed:  # The second round confirms code without backward jumps.
            changed = False
            for index in reversed(range(len(items))):
                read_later = frozenset[object]().union(*(live[follower] for follower in self.following(index)))
                if self.names_one(items[index]):
                    reads = items[index].op == "LOAD_GLOBAL"
                    read_later = read_later | {items[index].arg} if reads else read_later - {items[index].arg}
                changed = changed or read_later != live[index]
                live[index] = read_later
        reads_at = (index for index, item in enumerate(items) if item.op == "LOAD_GLOBAL" and self.names_one(item))
        return frozenset(index for index in reads_at if items[index].arg not in live[index + 1])

    def fail(self, index: int, reason: str) -> NoStack:
        return NoStack(reason, code=str(self.listing.code), offset=self.listing.instructions[index].offset)
