"""Write down which program shows which opcode, for `depyf coverage`.

    python -m scripts.opcode_tests [--check]

Every program of `programs.txt` is compiled by every version of CPython that it is for, decompiled, and proven. An
opcode counts as shown by the smallest program that holds it and is proven. Needs an interpreter of each version (see
docs/cli.md); writes `src/depyf/cli/opcode_tests.json`. With `--check` it writes nothing, and exits with 1 if it would.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from corpus.opcodes.assembled import ASSEMBLED
from corpus.opcodes.programs import Program, opcodes_of, programs
from depyf.bytecode.code import Version
from depyf.bytecode.versions.known import FACTS
from depyf.cli.opcodes import DATA
from depyf.decompiler.module import decompile_module
from depyf.errors import DecompilationError
from depyf.verify.candidate.interpreters import find_interpreter
from depyf.verify.candidate.oracle import Oracle
from depyf.verify.level import Level

HIDDEN = """
import dis, json, opcode
table = dict(getattr(dis, "_all_opmap", None) or opcode.opmap)
special = set(getattr(opcode, "_specialized_instructions", ())) | set(getattr(opcode, "_specialized_opmap", {}))
names = set(table) | special | set(opcode.opmap)
print(json.dumps(sorted((name, table.get(name, -1), name in special) for name in names)))
"""
OTHER = ("RESERVED", "INTERPRETER_EXIT", "ENTER_EXECUTOR", "TRACE_RECORD", "EXIT_INIT")


def hidden(python: str, version: Version) -> dict[str, list[str]]:
    """Return the opcodes of a version that code objects do not show, by kind."""
    by_kind: dict[str, list[str]] = {"specialised": [], "instrumented": [], "pseudo": [], "internal": []}
    shown = set(FACTS[version].table.opcodes.values())
    answer = subprocess.run([python, "-c", HIDDEN], capture_output=True, text=True, check=True).stdout
    for name, number, special in json.loads(answer):
        if name in shown or name.startswith("<"):
            continue
        kind = "specialised" if special else "pseudo"
        if name.startswith("INSTRUMENTED_"):
            kind = "instrumented"
        elif name.startswith(OTHER):
            kind = "internal"
        elif not special and 0 <= number < 256:
            kind = "specialised"
        by_kind[kind].append(name)
    return {kind: names for kind, names in by_kind.items() if names}


def shown(program: Program, python: str, oracle: Oracle) -> tuple[dict[str, str], str]:
    """Return the opcodes that a program shows, and why it shows none."""
    code = program.compile(python)
    try:
        verdict = decompile_module(code, oracle=oracle).verdict
    except DecompilationError as error:
        return {}, str(error)
    return (opcodes_of(code), "") if verdict.level > Level.UNPROVEN else ({}, verdict.reason)


def listing() -> dict[str, dict[str, object]]:
    """Return the whole table."""
    table: dict[str, dict[str, object]] = {}
    with Oracle() as oracle:
        for version in FACTS:
            label = "{}.{}".format(*version)
            python = find_interpreter(version)
            if python is None:
                raise SystemExit(f"no CPython {label} on this machine: name its folder in DEPYF_PYTHONS")
            tests: dict[str, list[str]] = {}
            for program in sorted(programs(), key=lambda program: len(program.source)):
                if program.runs_on(version):
                    opcodes, why = shown(program, python, oracle)
                    if why:
                        print(f"{label} {program.name}: {why}", file=sys.stderr)
                    for name, operations in opcodes.items():
                        tests.setdefault(name, [program.name, operations])
            for name, assembled in ASSEMBLED.items():
                if name in FACTS[version].table.opcodes.values():
                    tests.setdefault(name, [f"assembled {name}", assembled.made])
            table[label] = {"tests": dict(sorted(tests.items())), "hidden": hidden(python, version)}
    return table


def main() -> int:
    """Write the table, or check it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = json.dumps(listing(), indent=1) + "\n"
    path = Path(str(DATA))
    if options.check:
        return int(path.read_text(encoding="utf-8") != text)
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
