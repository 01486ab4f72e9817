"""The symbolic stack machine: executes one normalised operation on temporaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from depyf.bytecode.listing import Instruction
from depyf.bytecode.operations import ALWAYS, OPERATIONS
from depyf.decompiler.graph.tac import NULL, SELF, Graph, Inst
from depyf.errors import DecompilationError


class Machine:
    """A stack of temporaries, and the operations so far.

    `const` maps temporaries to the constants in them: calls and displays read the names of their keywords there.
    `calls` are the calls among the operations of all blocks.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.stack: list[int] = []
        self.insts: list[Inst] = []
        self.const: dict[int, object] = {}
        self.calls: list[Inst] = []
        self.now = Instruction("", None, -1, 0, None, -1)

    def begin(self, stack: list[int]) -> list[Inst]:
        """Start a block with these values on the stack; return the list its operations go to."""
        self.stack = list(stack)
        self.insts = []
        return self.insts

    def run(self, instructions: Iterable[Instruction]) -> None:
        """Execute operations that do not end a block.

        Raises DecompilationError for an unknown operation or a stack that is too short.
        """
        graph, stack, append, plain = self.graph, self.stack, self.insts.append, PLAIN
        for now in instructions:
            self.now = now
            op = now.op
            known = plain.get(op)
            if known is None:
                self._execute(op, now.arg)
                continue
            # `pop` and `emit` inlined: this is the path of most operations.
            pops, pushes = known
            uses: list[int] = []
            if pops:
                uses = stack[-pops:]
                if len(uses) < pops:
                    self.top(pops)
                del stack[-pops:]
            first = graph.temps
            graph.temps = first + pushes
            defs = [first] if pushes == 1 else list(range(first, first + pushes))
            append(Inst(op, now.arg, uses, defs, now.line, now.offset))
            stack += defs

    def _execute(self, op: str, arg: object) -> None:
        """Execute an operation that does not only replace the top values by others."""
        rule = RULES.get(op)
        if rule is not None:
            rule(self, arg)
        elif op in COUNTED:
            self.emit(op, arg, self.pop(cast(int, arg)), 1)
        elif op in PEEK:
            seen, pushed = PEEK[op]
            self.emit(op, arg, self.top(seen), pushed)
        elif op in INTO:
            values = self.pop(INTO[op])
            self.emit(op, arg, [self.at(cast(int, arg)), *values], 0)
        else:
            raise self.error(f"operation {op} cannot be lifted")

    def emit(self, op: str, arg: object, uses: list[int], pushes: int) -> Inst:
        """Append an operation and push the values that it makes, the first lowest.

        Args:
            op: the operation.
            arg: its argument.
            uses: the temporaries that it reads, the lowest on the stack first.
            pushes: the number of values that it makes.

        Returns:
            the new operation.
        """
        graph, now = self.graph, self.now
        first = graph.temps
        graph.temps = first + pushes
        defs = [first] if pushes == 1 else list(range(first, first + pushes))
        inst = Inst(op, arg, uses, defs, now.line, now.offset)
        self.insts.append(inst)
        self.stack += defs
        return inst

    def pop(self, count: int) -> list[int]:
        """Pop `count` values, the lowest first."""
        stack = self.stack
        first = len(stack) - count
        if first < 0 or count < 0:
            self.top(count)
        taken = stack[first:]
        del stack[first:]
        return taken

    def top(self, count: int) -> list[int]:
        """Return the topmost `count` values, the lowest first."""
        if not 0 <= count <= len(self.stack):
            raise self.error(f"{self.now.op} needs {count} values, the stack has {len(self.stack)}")
        return self.stack[len(self.stack) - count :]

    def at(self, depth: int) -> int:
        """Return the value `depth` deep; 1 is the top."""
        if not 0 < depth <= len(self.stack):
            raise self.error(f"{self.now.op} reaches {depth} deep, the stack has {len(self.stack)}")
        return self.stack[-depth]

    def error(self, reason: str) -> DecompilationError:
        """Return the error for the present instruction."""
        return DecompilationError(reason, code=str(self.graph.code), offset=self.now.offset)


def _const(machine: Machine, arg: object) -> None:
    temp, now = machine.graph.new_temp(), machine.now
    machine.insts.append(Inst("CONST", arg, [], [temp], now.line, now.offset))
    machine.stack.append(temp)
    machine.const[temp] = arg


def _null(machine: Machine, arg: object) -> None:
    machine.stack.append(NULL)


def _pop(machine: Machine, arg: object) -> None:
    (value,) = machine.pop(1)
    if value >= 0:
        machine.emit("POP", None, [value], 0)


def _copy_dict(machine: Machine, arg: object) -> None:
    """COPY_DICT_WITHOUT_KEYS: the keys are popped, the dictionary stays."""
    (keys,) = machine.pop(1)
    machine.emit("COPY_DICT_WITHOUT_KEYS", None, [machine.at(1), keys], 1)


def _copy(machine: Machine, arg: object) -> None:
    assert isinstance(arg, int)
    machine.stack.append(machine.at(arg))


def _swap(machine: Machine, arg: object) -> None:
    assert isinstance(arg, int)
    depth, stack = arg, machine.stack
    if not 0 < depth <= len(stack):
        machine.at(depth)
    stack[-1], stack[-depth] = stack[-depth], stack[-1]


def _load_method(machine: Machine, arg: object) -> None:
    name, _shape = cast("tuple[str, str]", arg)
    machine.emit("LOAD_ATTR", name, machine.pop(1), 1)
    machine.stack.append(SELF)


def _load_super_method(machine: Machine, arg: object) -> None:
    name, two_args, _shape = cast("tuple[str, bool, str]", arg)
    machine.emit("LOAD_SUPER_ATTR", (name, two_args), machine.pop(3), 1)
    machine.stack.append(SELF)


def _emit_call(machine: Machine, op: str, arg: object, shape: str, args: list[int]) -> None:
    """Pop the callee: one value, or two of which one may be missing; and call it (see `lift/callees.py`)."""
    machine.calls.append(machine.emit(op, (arg, shape), machine.pop(1 if shape == "plain" else 2) + args, 1))


def _call(machine: Machine, arg: object) -> None:
    count, shape = cast("tuple[int, str]", arg)
    _emit_call(machine, "CALL", (), shape, machine.pop(count))


def _call_kw(machine: Machine, arg: object) -> None:
    count, shape = cast("tuple[int, str]", arg)
    names = machine.const.get(machine.pop(1)[0])
    if not isinstance(names, tuple):
        raise machine.error("the names of a call's keywords are not a constant")
    args = machine.pop(count)
    _emit_call(machine, "CALL", names, shape, args)


def _call_ex(machine: Machine, arg: object) -> None:
    has_kwargs, shape = cast("tuple[bool, str]", arg)
    args = machine.pop(2 if has_kwargs else 1)
    if args[-1] == NULL:
        # Since 3.14 a null stands for missing keyword arguments; a program may push it before the other arguments.
        has_kwargs, args = False, args[:-1]
    _emit_call(machine, "CALL_EX", has_kwargs, shape, args)


def _build_map(machine: Machine, arg: object) -> None:
    machine.emit("BUILD_MAP", arg, machine.pop(2 * cast(int, arg)), 1)


def _build_const_key_map(machine: Machine, arg: object) -> None:
    keys = machine.const.get(machine.pop(1)[0])
    if not isinstance(keys, tuple):
        raise machine.error("the keys of a dict display are not a constant")
    machine.emit("BUILD_CONST_KEY_MAP", keys, machine.pop(cast(int, arg)), 1)


def _format(machine: Machine, arg: object) -> None:
    spec = arg[0] if isinstance(arg, tuple) else arg
    machine.emit("FORMAT", arg, machine.pop(2 if spec else 1), 1)


def _interpolation(machine: Machine, arg: object) -> None:
    _conversion, spec = cast("tuple[str | None, bool]", arg)
    machine.emit("BUILD_INTERPOLATION", arg, machine.pop(3 if spec else 2), 1)


def _unpack(machine: Machine, arg: object) -> None:
    count = cast(int, arg)
    machine.emit("UNPACK_SEQUENCE", count, machine.pop(1), count)
    _first_on_top(machine, count)


def _unpack_ex(machine: Machine, arg: object) -> None:
    before, after = cast("tuple[int, int]", arg)
    count = before + 1 + after
    machine.emit("UNPACK_EX", arg, machine.pop(1), count)
    _first_on_top(machine, count)


def _first_on_top(machine: Machine, count: int) -> None:
    """Reverse the new values: the first of a sequence must be on top."""
    if count:
        machine.stack[-count:] = machine.stack[-count:][::-1]


def _make_function(machine: Machine, arg: object) -> None:
    flags = cast(int, arg)
    count = 1 + sum(bool(flags & bit) for bit in (1, 2, 4, 8))
    machine.emit("MAKE_FUNCTION", flags, machine.pop(count), 1)


def _intrinsic(machine: Machine, arg: object) -> None:
    name, count = cast("tuple[str, int]", arg)
    machine.emit("INTRINSIC", name, machine.pop(count), 1)


def _push_exc_info(machine: Machine, arg: object) -> None:
    (exc,) = machine.pop(1)
    machine.emit("PUSH_EXC_INFO", None, [exc], 1)
    machine.stack.append(exc)


def _pop_except(machine: Machine, arg: object) -> None:
    machine.emit("POP_EXCEPT", None, machine.pop(1), 0)


def _check_exc_match(machine: Machine, arg: object) -> None:
    (type_,) = machine.pop(1)
    machine.emit("CHECK_EXC_MATCH", None, [machine.at(1), type_], 1)


def _match_exc(machine: Machine, arg: object) -> None:
    machine.emit("CHECK_EXC_MATCH", None, machine.pop(2), 1)


def _with_except_start(machine: Machine, arg: object) -> None:
    machine.emit("WITH_EXCEPT_START", None, [machine.at(cast(int, arg)), machine.at(1)], 1)


Rule = Callable[[Machine, object], None]
RULES: dict[str, Rule] = {
    "CONST": _const,
    "NULL": _null,
    "POP": _pop,
    "COPY": _copy,
    "COPY_DICT_WITHOUT_KEYS": _copy_dict,
    "SWAP": _swap,
    "LOAD_METHOD": _load_method,
    "LOAD_SUPER_METHOD": _load_super_method,
    "CALL": _call,
    "CALL_KW": _call_kw,
    "CALL_EX": _call_ex,
    "BUILD_MAP": _build_map,
    "BUILD_CONST_KEY_MAP": _build_const_key_map,
    "FORMAT": _format,
    "BUILD_INTERPOLATION": _interpolation,
    "UNPACK_SEQUENCE": _unpack,
    "UNPACK_EX": _unpack_ex,
    "MAKE_FUNCTION": _make_function,
    "INTRINSIC": _intrinsic,
    "PUSH_EXC_INFO": _push_exc_info,
    "POP_EXCEPT": _pop_except,
    "CHECK_EXC_MATCH": _check_exc_match,
    "MATCH_EXC": _match_exc,
    "WITH_EXCEPT_START": _with_except_start,
}
"""The rules of operations that move values, look below the top, or are written in another way."""
_NOT_LIFTED = frozenset({"CLEANUP_THROW", "LOAD_SPECIAL", "MARK", "MATCH_CLASS_OR_SUBJECT"})
"""Operations that the reader folds into others, or that occur only in program-written code."""
_LIFTED = [
    operation
    for operation in OPERATIONS.values()
    if operation.jump_effect is None and operation.name not in RULES and operation.name not in _NOT_LIFTED
]
_BELOW = ("below", "n")

PLAIN = {
    operation.name: ALWAYS[operation.name]
    for operation in _LIFTED
    if operation.picture.fixed and operation.falls and not {*operation.picture.before} & {*operation.picture.after}
}
"""Operations that pop some values and push others: the two numbers."""
PEEK = {
    operation.name: (len(operation.picture.before), len(operation.picture.results))
    for operation in _LIFTED
    if operation.picture.fixed
    and operation.picture.before
    and operation.picture.after[: len(operation.picture.before)] == operation.picture.before
}
"""Operations that read the top values, keep them, and push: the number of values read, and pushed."""
COUNTED = {
    operation.name
    for operation in _LIFTED
    if operation.picture.before == (("v", "n"),) and len(operation.picture.after) == 1
}
"""Operations that pop as many values as their argument says, and push one."""
INTO = {
    operation.name: len(operation.picture.before) - 1
    for operation in _LIFTED
    if operation.picture.before[:1] == operation.picture.after == (_BELOW,)
}
"""Operations that pop values and change a container below them: the number of values popped."""
