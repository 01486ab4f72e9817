"""The programs that show opcodes: small modules, each for a range of versions, in `programs.txt`.

A program begins with a line `#: name since 3.8 until 3.10`; the last part may be missing.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from depyf.bytecode.code import Code, Version
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.bytecode.pyc import load
from depyf.bytecode.versions.known import facts_of
from depyf.decompiler.pipeline.run import nested

TEXT = Path(__file__).parent / "programs.txt"
HEAD = re.compile(r"^#: (?P<name>.*?) since (?P<since>\d\.\d+)(?: until (?P<until>\d\.\d+))?$")
COMPILE = """
import importlib.util, marshal, sys
code = compile(sys.stdin.buffer.read(), "program.py", "exec")
sys.stdout.buffer.write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
"""


@dataclass(frozen=True, slots=True)
class Program:
    """One program."""

    name: str
    since: Version
    until: Version
    source: str

    def runs_on(self, version: Version) -> bool:
        """Return whether a version has the syntax, and compiles it to what the program shows."""
        return self.since <= version <= self.until

    def compile(self, python: str) -> Code:
        """Return the code that an interpreter makes of it."""
        done = subprocess.run(
            [python, "-W", "ignore", "-c", COMPILE],
            input=self.source.encode(),
            capture_output=True,
            check=True,
        )
        return load(done.stdout)


def programs() -> list[Program]:
    """Return all programs in the order of the file."""
    all_programs: list[Program] = []
    heads: list[re.Match[str]] = []
    lines: list[list[str]] = []
    for line in TEXT.read_text(encoding="utf-8").splitlines(keepends=True):
        head = HEAD.match(line.rstrip("\n"))
        if head is not None:
            heads.append(head)
            lines.append([])
        else:
            lines[-1].append(line)
    for head, source in zip(heads, lines):
        until = _version(head["until"]) if head["until"] else (9, 9)
        all_programs.append(Program(head["name"], _version(head["since"]), until, "".join(source)))
    return all_programs


def _version(text: str) -> Version:
    major, minor = text.split(".")
    return int(major), int(minor)


def opcodes_of(module: Code) -> dict[str, str]:
    """Return the opcodes in the code of a module and all inside it, and the operations that each becomes."""
    operations_of: dict[str, dict[str, None]] = {}
    for code in nested(module):
        table = facts_of(code.version, str(code)).table
        operations_at = _made(normalise(code))
        offset = 0
        while offset < len(code.bytecode):
            name = table.opcodes[code.bytecode[offset]]
            operations_of.setdefault(name, {}).update(dict.fromkeys(operations_at.get(offset, ())))
            caches = table.caches.get(name, 0)
            if caches:
                operations_of.setdefault("CACHE", {})
            offset += 2 + 2 * caches
    return {name: ", ".join(operations) for name, operations in operations_of.items()}


def _made(listing: Listing) -> dict[int, list[str]]:
    by_offset: dict[int, list[str]] = {}
    for instruction in listing.instructions:
        by_offset.setdefault(instruction.offset, []).append(instruction.op)
    return by_offset
