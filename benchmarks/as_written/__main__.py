"""Print how many functions come back with the syntax tree of their authors, and why the others do not, ranked.

    python -m benchmarks.as_written [--modules 60] [--seed 1] [--python 3.9] [--folder DIR] [--show 20] [--judge]
        [--undecided]

Modules of the standard library, or of a folder, are decompiled whole. Annotations of locals, `pass`, folded constants
and how literals are spelled count as the same: no bytecode holds them. A second number adds functions that differ by no
more than what the compiler decides before it writes instructions: a list that is only searched or iterated, the order
of a constant set, items of constants, `if __debug__`, f-strings without fields, `global` of names that are only read.
"""

from __future__ import annotations

import argparse
import ast
import random
import subprocess
import sys
import sysconfig
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.as_written.trees import Definition, causes, folded, functions, held
from benchmarks.as_written.undecided import laid_out, undecided
from depyf.bytecode.code import Code
from depyf.bytecode.reader import read
from depyf.decompiler.module import judge, module_source
from depyf.verify.candidate.interpreters import find_interpreter
from depyf.verify.candidate.oracle import NotCompiled, shared_oracle
from depyf.verify.level import Level

SKIPPED = ("/test", "idlelib", "lib2to3", "site-packages")
Version = tuple[int, int]


@dataclass
class Count:
    """What was found so far.

    folded: how many are the same but for what the compiler decides before it writes instructions.
    undecided: how many differ though both texts compile to the identical code object, tables of places included.
    levels: how far modules were proven, where that was asked for.
    """

    same: int = 0
    folded: int = 0
    undecided: int = 0
    total: int = 0
    failed: int = 0
    ranked: Counter[str] = field(default_factory=Counter)
    shown: list[tuple[int, str]] = field(default_factory=list)
    levels: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Asked:
    """What to look at besides: functions of a cause, whether modules are proven, and what no evidence tells apart."""

    cause: str
    judges: bool
    tells_undecided: bool


def library(version: Version) -> str:
    """Return the folder of a version's standard library."""
    if version == sys.version_info[:2]:
        return sysconfig.get_paths()["stdlib"]
    path = find_interpreter(version)
    if path is None:
        raise SystemExit(f"no Python {version[0]}.{version[1]} is at hand")
    script = "import sysconfig; print(sysconfig.get_paths()['stdlib'])"
    return subprocess.run([path, "-I", "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def compiled(text: str, version: Version) -> Code | None:
    """Return a source compiled by a version of Python, None where it is no source of it."""
    try:
        if version == sys.version_info[:2]:
            return read(compile(text, "<library>", "exec", dont_inherit=True))
        return shared_oracle().compile(text, version)
    except (SyntaxError, ValueError, NotCompiled):
        return None


def compare(path: Path, version: Version, count: Count, asked: Asked) -> None:
    """Decompile one module and compare its functions."""
    try:
        text = path.read_text(encoding="utf-8")
        written = functions(ast.parse(text))
    except (OSError, SyntaxError, ValueError):
        return
    code = compiled(text, version)
    if code is None:
        return
    try:
        source = module_source(code)
        decompiled = functions(ast.parse(source))
    except Exception as error:  # noqa: BLE001  counted, and told
        print(f"{path}: {type(error).__name__}: {error}")
        count.failed += 1
        count.total += 1
        return
    if asked.judges:
        verdict = judge(code, source)
        count.levels[verdict.level.name] += 1
        if verdict.level is not Level.EXACT:
            print(f"{path}: {verdict.level.name}: {verdict.reason}")
    differing: set[tuple[str, int]] = set()
    for name, definitions in written.items():
        others = decompiled.get(name, [])
        if len(others) != len(definitions):
            count.total += len(definitions)
            count.ranked["another number of functions"] += len(definitions)
            continue
        for number, (definition, other) in enumerate(zip(definitions, others)):
            if not _count(count, held(definition), held(other), f"{path} {name}", asked.cause):
                differing.add((name, number))
    if asked.tells_undecided and differing:
        laid = laid_out(code)
        again = compiled(laid, version)
        count.undecided += 0 if again is None else len(differing & undecided(text, code, laid, again))


def _count(count: Count, definition: Definition, other: Definition, name: str, wanted: str) -> bool:
    """Count a function; return whether it is the same."""
    count.total += 1
    if ast.dump(definition) == ast.dump(other):
        count.same += 1
        return True
    count.folded += ast.dump(folded(definition)) == ast.dump(folded(other))
    why = " + ".join(causes(definition, other))
    count.ranked[why] += 1
    if wanted in why:
        texts = [ast.unparse(ast.fix_missing_locations(tree)) for tree in (definition, other)]
        count.shown.append((len(texts[0]), f"----- {name}: {why}\n{texts[0]}\n  vs\n{texts[1]}"))
    return False


def main() -> None:
    """Print the measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=int, default=60, help="how many modules; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--python", default="{}.{}".format(*sys.version_info[:2]), help="whose library, e.g. 3.9")
    parser.add_argument("--folder", default="", help="modules of this folder instead")
    parser.add_argument("--show", type=int, default=0, help="how many functions that differ to print, short ones first")
    parser.add_argument("--cause", default="", help="print only those of this cause")
    parser.add_argument("--judge", action="store_true", help="also print how far the modules are proven")
    parser.add_argument("--undecided", action="store_true", help="also count those that no code tells apart")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    version = tuple(map(int, arguments.python.split(".")))
    assert len(version) == 2
    folder = Path(arguments.folder or library(version))
    paths = [path for path in sorted(folder.rglob("*.py")) if not any(part in str(path) for part in SKIPPED)]
    random.Random(arguments.seed).shuffle(paths)
    count = Count()
    for path in paths[: arguments.modules or None]:
        compare(path, version, count, Asked(arguments.cause, arguments.judge, arguments.undecided))
    share = 100 * count.same / max(1, count.total)
    print(f"functions with the tree that was written: {count.same} of {count.total}, {share:.2f} %")
    share = 100 * (count.same + count.folded) / max(1, count.total)
    print(f"and those that differ by what is decided before there are instructions: {count.folded}, {share:.2f} %")
    if arguments.undecided:
        share = 100 * (count.same + count.undecided) / max(1, count.total)
        print(f"and those whose text compiles to the identical code object: at least {count.undecided}, {share:.2f} %")
    if count.failed or count.levels:
        print(f"modules that failed: {count.failed}; proven: {dict(count.levels)}")
    for why, times in count.ranked.most_common(30):
        print(f"{times:6} {100 * times / count.total:5.2f} %  {why}")
    for _, text in sorted(count.shown)[: arguments.show]:
        print(text)


if __name__ == "__main__":
    main()
