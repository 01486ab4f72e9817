"""From a program to a code object of the running interpreter."""

from __future__ import annotations

import sys
import types

from depyf.bytecode.code import (
    CO_ASYNC_GENERATOR,
    CO_COROUTINE,
    CO_GENERATOR,
    CO_NESTED,
    CO_NEWLOCALS,
    CO_OPTIMIZED,
)
from tests.quality.fuzz.block_stack import DEEP, catch, depth_of, height, protect, reraise, uses_blocks
from tests.quality.fuzz.effects import apply, leave
from tests.quality.fuzz.encode import encode, exception_table, line_table
from tests.quality.fuzz.lowering import CELLS, CLEANUPS, FREE, SPARE, VARIABLES, Lowering, replaced
from tests.quality.fuzz.operations import lower_op
from tests.quality.fuzz.program import ASYNC_GENERATOR, COROUTINE, GENERATOR, Exit, Kinds, Op, Program
from tests.quality.fuzz.suspending import flags_of

FLAGS = {GENERATOR: CO_GENERATOR, COROUTINE: CO_COROUTINE, ASYNC_GENERATOR: CO_ASYNC_GENERATOR}


def lower(program: Program) -> types.CodeType:
    """Return the code object. Raises Invalid for a program that the interpreter would not survive."""
    low = Lowering(program)
    prologue(low)
    for place, index in enumerate(program.order):
        lower_block(low, index, program.order[place + 1] if place + 1 < len(program.order) else None)
    low.region = -1
    for label, kinds, kind, target in low.pads:
        low.pending.append(label)
        lower_pad(low, kinds, kind, target)
    stop = guard_generator(low)
    data, labels, starts = encode(low.words, low.facts)
    handlers = {
        number: (labels[region.target], len(region.kept), region.lasti) for number, region in enumerate(program.regions)
    }
    handlers.update((CLEANUPS + number, (labels[at], kept, False)) for number, (at, kept) in enumerate(low.cleanups))
    if stop >= 0:
        handlers[len(program.regions)] = labels[stop], 0, True
    table = exception_table(low.words, starts, handlers) if low.facts.exceptions == "table" else b""
    return finished(low, data, table)


def guard_generator(low: Lowering) -> int:
    """Put all that nothing protects under the handler that generators of newer versions have; return its label."""
    if not low.program.generator or not low.has("CALL_INTRINSIC_1"):
        return -1
    begin = next(place for place, word in enumerate(low.words) if word.name == "RESUME")
    for word in low.words[begin:]:
        word.region = len(low.program.regions) if word.region < 0 else word.region
    label = low.new_label()
    low.pending.append(label)
    low.put("CALL_INTRINSIC_1", low.facts.table.intrinsics_1.index("INTRINSIC_STOPITERATION_ERROR"))
    low.put("RERAISE", 1)
    return label


def finished(low: Lowering, data: bytes, table: bytes) -> types.CodeType:
    """Return the code object of bytes and tables."""

    def sample(a: object, b: object, c: object) -> None: ...

    return replaced(
        sample.__code__,
        co_code=data,
        co_consts=tuple(low.consts),
        co_names=tuple(low.names),
        co_varnames=(*VARIABLES, *SPARE),
        co_nlocals=len(VARIABLES) + len(SPARE),
        co_cellvars=CELLS,
        co_freevars=FREE,
        co_stacksize=low.depth + 6,
        co_flags=CO_OPTIMIZED | CO_NEWLOCALS | CO_NESTED | (FLAGS[low.program.mode] if low.program.generator else 0),
        co_name="f",
        co_qualname="f",
        co_filename="<fuzz>",
        co_firstlineno=1,
        co_linetable=line_table(low.facts, len(data) // 2),
        co_exceptiontable=table,
    )


def prologue(low: Lowering) -> None:
    """Write what makes cells and the generator."""
    if low.has("COPY_FREE_VARS"):
        low.put("COPY_FREE_VARS", len(FREE))
        for number in range(len(CELLS)):
            low.put("MAKE_CELL", len(VARIABLES) + len(SPARE) + number)
    if low.program.generator:
        if low.has("RETURN_GENERATOR"):
            low.put("RETURN_GENERATOR")
            low.put("POP_TOP")
        else:
            low.put("GEN_START", flags_of(low.program.mode))
    if low.has("RESUME"):
        low.put("RESUME")


def lower_block(low: Lowering, index: int, following: int | None) -> None:
    """Write a block; `following` is the one laid out after it."""
    program = low.program
    block = program.blocks[index]
    low.region = block.region
    low.pending.append(index)
    kinds = block.entry
    if block.fuel:
        ask_for_fuel(low, kinds)
    is_set_up = protect(low, block)
    for op in block.ops:
        low.depth = max(low.depth, height(kinds))
        after = apply(program, block.region, kinds, op.name, op.arg)
        if low.chance.random() < 0.02:
            low.put("NOP" if low.chance.random() < 0.5 or not low.has("RESUME") else "RESUME")
        low.height = height(kinds)
        lower_op(low, at_depth(op, kinds) if op.name in DEEP and uses_blocks(low) else op)
        kinds = after
    low.depth = max(low.depth, height(kinds) + 6)
    ways = leave(program, block.region, kinds, block.exit)
    if is_set_up and block.exit.kind not in ("raise", "reraise"):
        low.put("POP_BLOCK")
    lower_exit(low, block.exit, kinds, ways, following)


def at_depth(op: Op, kinds: Kinds) -> Op:
    """Return an operation on a container with the depth at which that lies."""
    assert isinstance(op.arg, int)
    return Op(op.name, depth_of(kinds, op.arg, 2 if op.name == "MAP_ADD" else 1))


def ask_for_fuel(low: Lowering, kinds: Kinds) -> None:
    """Leave if there is no fuel."""
    lower_op(low, Op("LOAD_GLOBAL", "fuel"))
    call_top(low)
    branch(low, "true", low.pad(kinds, "fuel", -1), bool_already=True)


def call_top(low: Lowering) -> None:
    """Call what lies on the stack, without arguments."""
    if not low.has("PUSH_NULL"):
        low.put("CALL_FUNCTION")
        return
    low.put("PUSH_NULL")
    if not low.facts.null_above:
        low.put("SWAP", 2)
    if low.has("PRECALL"):
        low.put("PRECALL")
    low.put("CALL")


def lower_pad(low: Lowering, kinds: Kinds, kind: str, target: int) -> None:
    """Write instructions that stand at the end of the code."""
    if kind == "loop":
        # The interpreter skips them without looking.
        if low.has("END_FOR"):
            low.put("END_FOR", bare=True)
        if low.has("POP_ITER"):
            low.put("POP_ITER", bare=True)
        elif low.has("TO_BOOL"):
            low.put("POP_TOP", bare=True)
        low.jump(target)
    elif kind == "caught":
        catch(low, low.program.regions[target])
    elif kind == "again":
        low.put("RERAISE")
    elif kind == "jump":
        low.jump(target)
    else:
        first = min((place for place, kind in enumerate(kinds) if kind == "p"), default=len(kinds))
        for kind in reversed(kinds[first:]):
            if kind == "p":
                low.put("POP_EXCEPT")
            elif kind in "nums":
                # Of a method and its `self` one is null where an attribute was found that is no method.
                low.put("STORE_FAST", VARIABLES.index("w"))
            else:
                low.put("POP_TOP")
        low.put("LOAD_CONST", low.const(None if low.program.mode == ASYNC_GENERATOR else "no fuel"))
        low.put("RETURN_VALUE")


def lower_exit(low: Lowering, exit_: Exit, kinds: Kinds, ways: list[Kinds], following: int | None) -> None:
    """Write the end of a block."""
    if exit_.kind == "goto":
        if exit_.targets[0] != following or low.chance.random() < 0.05:
            low.jump(exit_.targets[0])
        return
    if exit_.kind == "return":
        low.put("RETURN_VALUE")
    elif exit_.kind == "raise":
        low.put("RAISE_VARARGS", exit_.arg)
    elif exit_.kind == "reraise":
        reraise(low, kinds) if uses_blocks(low) else low.put("RERAISE", exit_.arg)
    elif exit_.kind == "for":
        target = exit_.targets[0]
        plain = not low.has("END_FOR") and not low.is_back(target)
        low.put("FOR_ITER", target=target if plain else low.pad(ways[0], "loop", target))
    else:
        branch(low, exit_.kind, exit_.targets[0], bool_already=kinds[-1] == "b")
    if len(exit_.targets) == 2 and exit_.targets[1] != following:
        low.jump(exit_.targets[1])


def branch(low: Lowering, kind: str, target: int, *, bool_already: bool) -> None:
    """Write a conditional jump, in one of the ways there are."""
    if low.has("TO_BOOL") and kind in ("true", "false") and not bool_already:
        low.put("TO_BOOL")
    is_back = low.is_back(target)
    if kind.endswith("_or_pop"):
        name = f"JUMP_IF_{kind.upper()}"
        low.put(name, target=low.pad((), "jump", target) if is_back and not low.has("JUMP_ABSOLUTE") else target)
        return
    when = kind.upper()
    if low.has("POP_JUMP_FORWARD_IF_TRUE"):
        way = "BACKWARD" if is_back else "FORWARD"
        low.put(f"POP_JUMP_{way}_IF_{when}", target=target)
    elif is_back and not low.has("JUMP_ABSOLUTE"):
        low.put(f"POP_JUMP_IF_{when}", target=low.pad((), "jump", target))
    else:
        low.put(f"POP_JUMP_IF_{when}", target=target)


def running() -> tuple[int, int]:
    """Return the version of the running interpreter."""
    return sys.version_info[0], sys.version_info[1]
