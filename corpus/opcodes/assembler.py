"""Code objects made of instructions by hand, for any version."""

from __future__ import annotations

from depyf.bytecode.code import CO_NEWLOCALS, CO_OPTIMIZED, Code
from depyf.bytecode.versions.known import FACTS

Written = str | tuple[str, int]


def assemble(
    version: tuple[int, int],
    *instructions: Written,
    consts: tuple[object, ...] = (None,),
    exceptions: tuple[tuple[int, int, int, int, bool], ...] = (),
    flags: int = CO_OPTIMIZED | CO_NEWLOCALS,
    free: tuple[str, ...] = ("c",),
) -> Code:
    """Return the code of a function `f` with parameter `a`; caches are put in. Arguments are the raw numbers.

    exceptions: start, end, target (byte offsets), depth, lasti.
    """
    table = FACTS[version].table
    numbers = {name: number for number, name in table.opcodes.items()}
    data = bytearray()
    for written in instructions:
        name, arg = (written, 0) if isinstance(written, str) else written
        data += bytes([numbers[name], arg]) + bytes(2 * table.caches.get(name, 0))
    entries = bytearray()
    for start, end, target, depth, lasti in exceptions:
        entries += bytes([start // 2, (end - start) // 2, target // 2, depth << 1 | lasti])
    return Code(
        version=version,
        name="f",
        qualname="f",
        filename="assembled",
        first_line=1,
        argcount=1,
        posonly_count=0,
        kwonly_count=0,
        flags=flags,
        varnames=("a", "b"),
        names=("n",),
        cellvars=(),
        freevars=free,
        consts=consts,
        bytecode=bytes(data),
        line_table=b"",
        exception_table=bytes(entries),
        stacksize=9,
    )
