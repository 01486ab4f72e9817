"""Convert a code object of any version to its normalised listing."""

from __future__ import annotations

from bisect import bisect_left

from depyf.bytecode.code import Code
from depyf.bytecode.depths import stack_depths
from depyf.bytecode.draft import Draft, Fold
from depyf.bytecode.exception_table import Entry, read_exception_table
from depyf.bytecode.line_table import Lines, read_lines
from depyf.bytecode.listing import Handler, Listing
from depyf.bytecode.operand import Operand, Pool, RawInstruction, Steps
from depyf.bytecode.places import Places, read_located
from depyf.bytecode.settle import settle
from depyf.bytecode.versions.facts import Facts
from depyf.bytecode.versions.known import facts_of
from depyf.bytecode.wordcode import START, decode, jump_targets, misplaced
from depyf.errors import DecompilationError


def normalise(code: Code, *, marks: bool = False, measures: bool = True, lines: bool = True) -> Listing:
    """Return the normalised instructions of one code object (nested ones are constants in it).

    Args:
        code: the code object; nested code objects stay constants of the listing.
        marks: emit operations MARK where blocks of the block stack are opened and closed, in versions that have one.
        measures: check the depth of the stack. A caller that executes the operations on a stack notices errors anyway.
        lines: read the locations in the source, which not every caller needs.

    Raises:
        DecompilationError: no interpreter could run the code. It is truncated, has an unknown opcode or an argument out
            of range, or jumps into an instruction. Or control runs off the end, the stack underflows, or paths merge
            with different stack depths.
    """
    facts = facts_of(code.version, str(code))
    try:
        return finish(begin(code, facts, lines), facts, (*facts.guesses, *facts.folds), marks, measures)
    except DecompilationError:
        if not facts.guesses:
            raise
    return finish(begin(code, facts, lines), facts, facts.folds, marks, measures)


def finish(draft: Draft, facts: Facts, folds: tuple[Fold, ...], marks: bool, measures: bool) -> Listing:
    """Return the listing of a draft after some folds.

    Args:
        draft: the expanded instructions; the folds change them.
        facts: the facts of the version.
        folds: the folds, in the order in which they run.
        marks: whether to emit operations that show where blocks are opened and closed.
        measures: whether to check the depth of the stack at each instruction.

    Raises:
        DecompilationError: control runs off the end of the code, or the depths of the stack contradict each other.
    """
    for fold in folds:
        fold(draft)
    if facts.walked:
        from depyf.bytecode.walk.walker import walk

        listing = walk(draft, marks)
    else:
        listing = settle(draft)
    if measures or facts.guesses:
        stack_depths(listing)  # A wrong guess is dropped if the stack depths do not fit.
    listing.places = draft.places
    listing.function_names = draft.function_names
    listing.source_order = facts.source_order
    listing.keeps_constants = facts.keeps_constants
    listing.negates = facts.negates
    listing.iterates_tuples = facts.iterates_tuples
    listing.exact_ranges = facts.exceptions == "block stack"
    return listing


def begin(code: Code, facts: Facts, with_lines: bool) -> Draft:
    """Return the draft, with each raw instruction expanded separately.

    Args:
        code: the code object.
        facts: the facts of its version.
        with_lines: whether to read the source location of each instruction.

    Raises:
        DecompilationError: the bytecode cannot be decoded.
    """
    raws = decode(code, facts)
    pool = pool_of(code, facts)
    steps = expand(raws, facts, Operand(pool, raws[0]))
    targets = jump_targets(code, facts, raws)
    lines, places = _lines(code, facts) if with_lines else (None, [])
    draft = Draft(
        code=code,
        raws=raws,
        steps=steps,
        targets=targets,
        lines=[None] * len(raws) if lines is None else [lines[raw.offset >> 1] for raw in raws],
        handler=[-1] * len(raws),
        handlers=[],
        entries=[0] * len(raws),
        has_lines=with_lines,
        places=places,
    )
    for target in filter((-1).__ne__, targets):
        draft.entries[target] += 1
    if facts.exceptions == "table":
        protect(draft, read_exception_table(code))
    return draft


def _lines(code: Code, facts: Facts) -> tuple[Lines, Places]:
    """Return the line of each 2-byte unit of the code, and its location if known."""
    return read_located(code) if facts.lines == "locations" else (read_lines(code, facts.lines), [])


def expand(raws: list[RawInstruction], facts: Facts, operand: Operand) -> list[Steps]:
    """Return the steps of each raw instruction.

    Args:
        raws: the raw instructions of one code object.
        facts: the facts of its version, with one expansion for each opcode.
        operand: the argument of the current instruction; it is reset to each instruction in turn.
    """
    fixed, expansions = facts.fixed, facts.expansions
    met: dict[tuple[str, int], Steps] = {}
    steps: list[Steps] = []
    append = steps.append
    for raw in raws:
        name = raw.name
        known = fixed.get(name)
        if known is None:
            same = name, raw.arg
            known = met.get(same)
            if known is None:
                operand.raw = raw
                known = met[same] = expansions[name](operand)
        append(known)
    return steps


def pool_of(code: Code, facts: Facts) -> Pool:
    """Return the tables that the arguments of this code index."""
    cells = (*code.cellvars, *code.freevars)
    row = code.varnames
    if facts.shared_slots:
        row = (*code.varnames, *(name for name in code.cellvars if name not in code.varnames), *code.freevars)
    first_cell = len(row) - len(code.freevars) if facts.shared_slots else len(row)
    local_names = apart(row, len(code.parameters), first_cell, code.freevars if facts.shared_slots else cells)
    return Pool(
        code=code,
        table=facts.table,
        locals=local_names,
        cells=local_names if facts.shared_slots else cells,
        cell_names=frozenset(cells) if facts.shared_slots else frozenset(),
        null_above=facts.null_above,
    )


def apart(row: tuple[str, ...], parameters: int, end: int, elsewhere: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row of variables with a different name for each slot.

    No compiler gives a local and a free variable the same name, but program-written code may, and then they are
    different variables. A slot from `parameters` to `end` whose name occurs in an earlier slot or in `elsewhere` gets
    its number as a suffix.

    Args:
        row: the names of the slots.
        parameters: the number of slots that keep their names.
        end: the index after the last slot to rename.
        elsewhere: other names that count as taken.
    """
    taken = {*row[:parameters], *elsewhere}
    names = list(row)
    for index in range(parameters, end):
        if names[index] in taken:
            names[index] = f"{row[index]}.{index}"
        taken.add(names[index])
    return tuple(names)


def protect(draft: Draft, entries: list[Entry]) -> None:
    """Set the handler of each instruction; the first entry that covers it counts."""
    if not entries:
        return
    starts = list(map(START, draft.raws))
    indices: dict[tuple[int, int, bool], int] = {}
    position = 0
    for entry in sorted(entries, key=lambda entry: entry.start):
        target = bisect_left(starts, entry.target)
        if target == len(starts) or starts[target] != entry.target:
            raise DecompilationError(
                f"an exception handler {misplaced(draft.code, entry.target)}", code=str(draft.code), offset=entry.start
            )
        index = indices.setdefault((target, entry.depth, entry.lasti), len(indices))
        if index == len(draft.handlers):
            draft.handlers.append(Handler(target, entry.depth, entry.lasti))
        position = cover(draft, entry, index, position)


def cover(draft: Draft, entry: Entry, index: int, position: int) -> int:
    """Protect the instructions of one entry of the exception table.

    Args:
        draft: the draft, whose instructions get the handler.
        entry: the protected range of offsets, in bytes.
        index: the handler's position in `draft.handlers`.
        position: the position of the first raw instruction that may be in the range.

    Returns:
        the position at which the search for the next entry begins.
    """
    while position < len(draft.raws) and draft.raws[position].offset < entry.start:
        position += 1
    while position < len(draft.raws) and draft.raws[position].offset < entry.end:
        draft.protect(position, index)
        position += 1
    return position

