"""For each opcode: its handlers, the operations it becomes, and its test."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Callable

from depyf.bytecode.code import Version
from depyf.bytecode.records import dataclass
from depyf.bytecode.versions.known import FACTS
from depyf.bytecode.wordcode import decode
from depyf.decompiler.lift.rules import FOLD

DATA = importlib.resources.files("depyf.cli") / "opcode_tests.json"
"""Written by `python -m scripts.opcode_tests`: each opcode's test by version, and the opcodes that no code contains."""
IN_WORDS = ("CACHE", "EXTENDED_ARG")
TEST = "tests/coverage/test_opcodes.py"


@dataclass(frozen=True, slots=True)
class Opcode:
    """One opcode of one version.

    operations: the operations that it becomes in its test.
    handled: the function that makes these operations, then the one that makes an expression or statement; may be empty.
    test: the id of its test; may be empty.
    """

    name: str
    operations: str
    handled: str
    test: str


def opcodes(version: Version) -> list[Opcode]:
    """Return the opcodes that code of a version may hold, by name."""
    facts = FACTS[version]
    tests = _data(version)["tests"]
    rows = []
    for name in sorted(facts.table.opcodes.values()):
        program, names_of_operations = tests.get(name, ("", ""))
        expansion: Callable[..., object] | None = decode if name in IN_WORDS else facts.expansions.get(name)
        handlers = [expansion] if expansion is not None else []
        handlers += [FOLD[operation] for operation in names_of_operations.split(", ")[:1] if operation in FOLD]
        handled = ", ".join(map(place_of, handlers)) if expansion is not None else ""
        rows.append(Opcode(name, names_of_operations, handled, test_id(program, version)))
    return rows


def hidden(version: Version) -> dict[str, list[str]]:
    """Return the opcodes of a version that no code object contains, by kind."""
    return {kind: list(names) for kind, names in _data(version)["hidden"].items()}


def _data(version: Version) -> dict[str, dict[str, list[str]]]:
    table: dict[str, dict[str, dict[str, list[str]]]] = json.loads(DATA.read_text(encoding="utf-8"))
    return table.get("{}.{}".format(*version), {"tests": {}, "hidden": {}})


def place_of(function: Callable[..., object]) -> str:
    """Return the file and the name of a function. For a nested function, return those of the outer function."""
    file = function.__module__.removeprefix("depyf.").replace(".", "/")
    return f"{file}.py {function.__qualname__.partition('.')[0]}"


def test_id(program: str, version: Version) -> str:
    """Return the id of the test for a program."""
    if not program:
        return ""
    kind = "assembled" if program.startswith("assembled ") else "program"
    name = program.removeprefix("assembled ").replace(" ", "_")
    return "{}::test_{}[{}-{}.{}]".format(TEST, kind, name, *version)
