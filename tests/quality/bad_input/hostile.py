"""`.pyc` files built to be expensive, each family at any size: deep, wide, cyclic, tables, names, jumps."""

from __future__ import annotations

import random
from collections.abc import Callable

from depyf.bytecode.versions.facts import Facts
from tests.quality.bad_input.written import Assembler, Raw, Written, four, joined, marshalled

Family = Callable[[int, random.Random, Facts], bytes]
"""Makes a file of about so many bytes, from a seeded generator, for a version."""

HASH_MODULUS = (1 << 61) - 1
NESTED = 500
PUSHED = 90
FAMILIES: dict[str, Family] = {}


def family(make: Family) -> Family:
    """Add a family under its function's name."""
    FAMILIES[make.__name__] = make
    return make


def fill(size: int, facts: Facts, block: Callable[[Assembler, int], None]) -> Assembler:
    """Append blocks of instructions, each with its number, until there are so many bytes."""
    lines = Assembler(facts)
    number = 0
    while len(lines) < size:
        block(lines, number)
        number += 1
    return lines


def dropped(lines: Assembler, number: int) -> None:
    """Load a value and drop it."""
    lines.load()
    lines.pop()


def assigned(lines: Assembler, number: int) -> None:
    """Assign one name to another."""
    lines.load()
    lines.store(1)


def plain(lines: Assembler) -> bytes:
    """Return the file with these instructions as its module."""
    return Written(lines.end(), names=("a", "b", "c")).file(lines.facts)


def constants(consts: Raw | tuple[object, ...], facts: Facts) -> bytes:
    """Return a file whose module loads the first of some constants."""
    lines = Assembler(facts)
    lines.const()
    lines.store()
    lines.op("LOAD_NAME")
    lines.op("RETURN_VALUE")
    return Written(bytes(lines.data), consts=consts).file(facts)


# Constants and names.


@family
def wide_tuple(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Build a tuple of nothing but None."""
    return constants(joined([joined([b"N"] * size).data]), facts)


@family
def deep_tuples(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Nest tuples to a depth that is allowed, again and again side by side."""
    opening = b"(" + four(1)
    tower = opening * NESTED + b"N"
    return constants(joined([joined([tower] * max(size // len(tower), 1)).data]), facts)


@family
def deepest_tuples(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Nest tuples in each other to the end of the file."""
    return constants(Raw((b"(" + four(1)) * (size // 5) + b"N"), facts)


@family
def doubled_tuples(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Let each tuple hold the one before it twice, by reference; what comes after it is small."""
    towers: list[bytes] = []
    references = 0
    while sum(len(tower) for tower in towers) < size:
        tower = b"N"
        levels = 8
        for level in range(levels):
            tower = b"\xa8" + four(2) + tower + (b"r" + four(references + levels - level) if level else b"N")
        references += levels
        towers.append(tower)
    return constants(joined([joined(towers).data]), facts)


@family
def cyclic_tuple(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Let tuples hold themselves."""
    return constants(Raw(b"\xa8" + four(size // 5) + (b"r" + four(0)) * (size // 5)), facts)


@family
def colliding_numbers(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Load constants that all have one hash."""
    values = [1 + index * HASH_MODULUS for index in range(max(size // 20, 2))]
    lines = Assembler(facts)
    for index in range(len(values)):
        lines.const(index)
        lines.pop()
    return Written(lines.end(), consts=(None, *values)).file(facts)


@family
def colliding_set(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Hold a frozen set whose members all have one hash."""
    values = [marshalled(1 + index * HASH_MODULUS) for index in range(max(size // 13, 2))]
    return constants(joined([joined(values, b">").data]), facts)


@family
def wide_set(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Hold a frozen set of many numbers."""
    values = [marshalled(rng.randrange(1 << 30)) for _ in range(max(size // 5, 2))]
    return constants(joined([joined(values, b">").data]), facts)


@family
def huge_number(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Hold one integer as large as the file."""
    return constants(joined([b"l" + four(size // 2) + b"\xff\x7f" * (size // 2)]), facts)


@family
def long_string(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Hold one string of quotes and ends of lines, as large as the file."""
    return constants(("\"'\n\\{}\0" * (size // 7),), facts)


@family
def many_names(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Load names that are all different."""
    count = max(size // 22, 1)
    lines = Assembler(facts)
    for index in range(count):
        lines.load(index)
        lines.pop()
    return Written(lines.end(), names=tuple(f"n{index:07}" for index in range(count))).file(facts)


@family
def unused_names(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Name what nothing uses; some are no names."""
    return Written(Assembler(facts).end(), names=tuple(f"n {index:07}" for index in range(size // 14))).file(facts)


@family
def long_name(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Use a name as long as the file."""
    lines = Assembler(facts)
    lines.load()
    lines.store()
    return Written(lines.end(), names=("n" * size,)).file(facts)


@family
def wide_code(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Hold small code objects side by side, which nothing uses."""
    code_data = Written(Assembler(facts).end(), name="f").code(facts).data
    return constants(joined([b"N", *([code_data] * (size // len(code_data)))]), facts)


@family
def deep_code(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Nest code objects in each other."""
    empty = Assembler(facts).end()
    head, tail = Written(empty, consts=Raw(b"@@")).code(facts).data.split(b"@@")
    levels = max(size // (len(head) + len(tail) + 5), 1)
    inner = (head + b"(" + four(1)) * levels + b"N" + tail * levels
    return Written(empty, consts=joined([inner])).file(facts)


@family
def many_variables(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Give a code object many parameters."""
    names = tuple(f"v{index:06}" for index in range(size // 13))
    return Written(Assembler(facts).end(), varnames=names, argcount=len(names)).file(facts)


# Tables.


@family
def endless_varint_of_exceptions(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Never end the first number of the table of handlers."""
    return Written(Assembler(facts).end(), exception_table=b"\xff" * size).file(facts)


@family
def endless_varints_of_lines(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Never end the numbers of the table of lines."""
    table = (b"\xf0" + b"\x7f" * 60) * (size // 61)
    return Written(Assembler(facts).end(), line_table=table).file(facts)


@family
def many_handlers(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Protect the same instructions by handlers without end."""
    entry = bytes([0x80, 2, 0, 0])
    return Written(Assembler(facts).end(), exception_table=entry * (size // 4)).file(facts)


@family
def staggered_handlers(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Protect each two instructions by an entry of their own; one handler serves all."""
    lines = fill(size // 3, facts, dropped)
    units = len(lines) // 2
    lines.jump("end")
    handler = len(lines) // 2
    lines.pop()
    entries = (varint(at, 0x80) + varint(2) + varint(handler) + varint(0) for at in range(1, units - 4, 4))
    return Written(lines.end(), exception_table=b"".join(entries)).file(facts)


def varint(value: int, mark: int = 0) -> bytes:
    """Return a number of a table of handlers: digits of six bits, high ones first, the first with a mark."""
    digits = [value & 63]
    while value := value >> 6:
        digits.append(value & 63 | 64)
    digits[-1] |= mark
    return bytes(reversed(digits))


@family
def many_lines(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Give each instruction a line, near and far."""
    lines = fill(size // 2, facts, lambda lines, number: lines.op("NOP"))
    table = bytes(rng.randrange(256) for _ in range(size // 2))
    return Written(lines.end(), line_table=table).file(facts)


# Instructions.


@family
def nops(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Do nothing."""
    return plain(fill(size, facts, lambda lines, number: lines.op("NOP")))


@family
def prefixes(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Write prefixes of arguments without end."""
    lines = Assembler(facts)
    lines.data += bytes([lines.numbers["EXTENDED_ARG"], 0]) * (size // 2)
    return plain(lines)


@family
def statements(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Assign one name to another again and again: what is cheap in proportion."""
    return plain(fill(size, facts, assigned))


@family
def dropped_values(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Load values and drop them, later ones first."""

    def block(lines: Assembler, number: int) -> None:
        """Load many values, then drop them all."""
        for _ in range(PUSHED):
            lines.load()
        for _ in range(PUSHED):
            lines.pop()

    return plain(fill(size, facts, block))


@family
def deep_expression(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Add one value to another, in one expression."""
    lines = Assembler(facts)
    lines.load()
    while len(lines) < size:
        lines.load(1)
        lines.add()
    lines.store()
    return plain(lines)


@family
def wide_display(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Build one list of as many values as the file has room for."""
    count = size // 2
    lines = Assembler(facts)
    for _ in range(count):
        lines.load()
    lines.op("BUILD_LIST", count)
    lines.store()
    return Written(lines.end(), stacksize=count).file(facts)


@family
def doubled_values(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Add each value to itself: the expression has 2 ** n operations."""
    lines = Assembler(facts)
    lines.load()
    while len(lines) < size:
        lines.double()
        lines.add()
    lines.store()
    return plain(lines)


@family
def doubled_in_turns(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Use a value twice, and keep what came of it."""

    def block(lines: Assembler, number: int) -> None:
        """Store one value under two names."""
        lines.load()
        for _ in range(8):
            lines.double()
            lines.add()
        lines.store()

    return plain(fill(size, facts, block))


@family
def jump_chain(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Jump to what jumps on."""

    def block(lines: Assembler, number: int) -> None:
        """Jump to the next jump."""
        lines.jump(("next", number))
        lines.label(("next", number))

    return plain(fill(size, facts, block))


@family
def branches_to_the_end(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Leave for the end, under one condition after the other."""

    def block(lines: Assembler, number: int) -> None:
        """Test a value and do something."""
        lines.load()
        lines.branch("end", when=bool(number & 1))
        lines.load(1)
        lines.store(2)

    return plain(fill(size, facts, block))


@family
def conditions_to_the_end(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Write one condition of as many parts as the file has room for."""

    def block(lines: Assembler, number: int) -> None:
        """Test a value."""
        lines.load()
        lines.branch("end", when=bool(rng.randrange(2)))

    return plain(fill(size, facts, block))


@family
def branches_in_a_row(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Write `if` after `if`."""

    def block(lines: Assembler, number: int) -> None:
        """Write an `if` with one statement."""
        lines.load()
        lines.branch(("next", number))
        lines.load(1)
        lines.store(2)
        lines.label(("next", number))

    return plain(fill(size, facts, block))


@family
def nested_branches(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Nest `if` in `if`, each with something behind it."""
    lines = Assembler(facts)
    count = size // 20
    for number in range(count):
        lines.load()
        lines.branch(("behind", number))
    for number in reversed(range(count)):
        lines.load(1)
        lines.store(2)
        lines.label(("behind", number))
    return plain(lines)


@family
def random_jumps(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Branch from anywhere to anywhere further down."""
    count = size // 16

    def block(lines: Assembler, number: int) -> None:
        """Test a value and go on somewhere."""
        lines.label(("at", number))
        lines.load()
        lines.branch(("at", rng.randrange(number + 1, count + 1)))
        lines.load(1)
        lines.store(2)

    lines = Assembler(facts)
    for number in range(count):
        block(lines, number)
    lines.label(("at", count))
    return plain(lines)


@family
def loops_to_one_head(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Go back to one place, under one condition after the other."""
    lines = Assembler(facts)
    lines.label("head")
    number = 0
    while len(lines) < size:
        lines.load()
        lines.branch(number)
        lines.jump("head")
        lines.label(number)
        number += 1
    return plain(lines)


@family
def nested_loops(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Nest loops in loops."""
    lines = Assembler(facts)
    count = size // 32
    for number in range(count):
        lines.label(("head", number))
        lines.load()
        lines.branch(("behind", number))
    for number in reversed(range(count)):
        lines.load(1)
        lines.store(2)
        lines.jump(("head", number))
        lines.label(("behind", number))
    return plain(lines)


@family
def noise(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Write any instructions with any arguments."""
    lines = Assembler(facts)
    names = [name for name in lines.numbers if name not in ("CACHE", "EXTENDED_ARG")]
    while len(lines) < size:
        lines.op(rng.choice(names), rng.randrange(4))
    return plain(lines)


@family
def unmarked(size: int, rng: random.Random, facts: Facts) -> bytes:
    """Write any bytes where marshal data should stand."""
    return Written(b"").file(facts)[:16] + rng.randbytes(size)
