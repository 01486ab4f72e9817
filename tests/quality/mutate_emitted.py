"""Test the verifier on what the decompiler writes for code that no compiler wrote: does it tell wrong versions of that?

    python -m tests.quality.mutate_emitted dispatch --mutants 4000 --seed 0  # library, written by dispatch
    python -m tests.quality.mutate_emitted fuzz --mutants 4000 --seed 0      # random bytecode (`tests/quality/fuzz`)
    python -m tests.quality.mutate_emitted dynamo --mutants 4000 --seed 0    # Dynamo's code for programs; needs torch

Each mutant is a proven source with one small change (`tests/quality/mutations.py`), and is compared with the bytecode
that the source came from, which is not the source's own: so nothing is EXACT, and all is up to the walk over both.
Prints kills and survivors by kind, the survivors by the class that shows them to be the same program
(`tests/quality/survivors`), and each that no class explains. Those of random programs are run beside the original: one
that acts otherwise is a hole. With `--cross` the rules are asked about killed mutants too, and those that they call the
same are printed and run too.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import random
import sys
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.force_dispatch import functions
from depyf.api import decompile_code
from depyf.bytecode.reader import read
from depyf.decompiler.function import Decompiled
from depyf.decompiler.pipeline.table import BUILD
from depyf.errors import DecompilationError
from depyf.verify.candidate.recompile import recompile
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests.quality.fuzz.check import RUNS, observe
from tests.quality.fuzz.generate import generate
from tests.quality.fuzz.lower import lower, running
from tests.quality.mutations import KINDS
from tests.quality.survivors.explain import explained

Function = ast.FunctionDef | ast.AsyncFunctionDef
EVERY = 37
MUTANTS_OF_ONE = 8
KILLED = "killed"
SAME_BY_RULE = "killed, and yet the same by a rule"


@dataclass(frozen=True)
class Subject:
    """Bytecode, and a source that is proven to be its own."""

    code: types.CodeType
    made: Decompiled
    may_run: bool = False

    def compiled(self, text: str) -> types.CodeType:
        """Return the code of a text in the place of the source. Raises DecompilationError where there is none."""
        return recompile(
            text,
            self.code,
            filename="<mutant>",
            placeholders=self.made.placeholders,
            function=None if self.code.co_name == "<lambda>" else self.made.function,
            names=self.made.names,
            functions=self.made.functions,
        )


def proven(
    code: types.CodeType, *, simplify: bool = False, without: frozenset[str] = frozenset(), may_run: bool = False
) -> Iterator[Subject]:
    """Yield the subject of some code, if it is proven."""
    try:
        decompiled = decompile_code(code, simplify=simplify, without=without)
    except DecompilationError:
        return
    if decompiled.level is not Level.UNPROVEN:
        yield Subject(code, decompiled, may_run)


def by_dispatch(seed: int) -> Iterator[Subject]:
    """Yield functions of the library as loops that dispatch on the number of a block."""
    chosen = list(functions())[seed % EVERY :: EVERY]
    random.Random(seed).shuffle(chosen)
    for code in chosen:
        yield from proven(code, without=frozenset((BUILD,)))


def random_code(seed: int) -> Iterator[Subject]:
    """Yield random programs."""
    number = 100_000 * (seed + 1)
    while True:
        code = lower(generate(running(), number))
        yield from proven(code, may_run=True)
        number += 1


def of_dynamo(seed: int) -> Iterator[Subject]:
    """Yield what Dynamo makes of our programs."""
    from torch._dynamo.convert_frame import register_bytecode_hook

    from benchmarks.dynamo_code import MODULES, load, run

    codes: list[types.CodeType] = []

    def note(code: types.CodeType, new_code: types.CodeType) -> None:
        codes.append(new_code)

    handle = register_bytecode_hook(note)
    try:
        programs = [program for module in MODULES for program in load(module)]
        random.Random(seed).shuffle(programs)
        for program in programs:
            run(program, "eager")
            for code in codes:
                yield from proven(code, simplify=True)
            codes.clear()
    finally:
        handle.remove()


SOURCES = {"dispatch": by_dispatch, "fuzz": random_code, "dynamo": of_dynamo}


@dataclass(frozen=True)
class Mutant:
    """A subject with a changed source: what kind of change, and the function in both texts."""

    subject: Subject
    kind: str
    original: Function
    changed: Function
    text: str


def mutants(subjects: Iterator[Subject], seed: int, count: int) -> Iterator[Mutant]:
    """Yield mutants of subjects, some of each, chosen evenly among the kinds."""
    chance = random.Random(seed)
    yielded = 0
    for subject in subjects:
        module = ast.parse(subject.made.module_source)
        original = function(module, subject.made.function)
        for _ in range(MUTANTS_OF_ONE if original is not None else 0):
            changed_module = copy.deepcopy(module)
            changed = function(changed_module, subject.made.function)
            assert original is not None
            assert changed is not None
            kind = chance.choice(list(KINDS))
            sites = list(KINDS[kind](changed))
            if not sites:
                continue
            chance.choice(sites)()
            yielded += 1
            text = ast.unparse(ast.fix_missing_locations(changed_module))
            yield Mutant(subject, kind, original, changed, text)
            if yielded == count:
                return


def function(module: ast.Module, name: str) -> Function | None:
    """Return the definition of that name, at the top or in the function that gives it free variables."""
    for stmt in [*module.body, *(inner for outer in module.body for inner in getattr(outer, "body", ()))]:
        if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)) and stmt.name == name:
            return stmt
    return None


@dataclass(frozen=True)
class Found:
    """What became of a mutant: `killed`, the class that explains it, `unexplained`, or `acts otherwise`."""

    outcome: str
    level: Level = Level.UNPROVEN


def judged(mutant: Mutant, *, cross: bool) -> Found | None:
    """Verify a mutant; None where it does not compile.

    cross: whether to ask the rules about a mutant that is killed.
    """
    subject = mutant.subject
    try:
        compile(mutant.text, "<mutant>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    try:
        candidate = subject.compiled(mutant.text)
        level = verify(read(subject.code), read(candidate)).level
    except DecompilationError:
        return Found(KILLED)
    is_killed = level is Level.UNPROVEN
    right = subject.compiled(subject.made.module_source)
    reason = explained(mutant.original, mutant.changed, (right, candidate)) if cross or not is_killed else None
    if is_killed and reason is None:
        return Found(KILLED)
    if subject.may_run and any(acts_otherwise(subject.code, candidate, run) for run in range(len(RUNS))):
        return Found("acts otherwise", level)
    return Found(SAME_BY_RULE if is_killed else reason or "unexplained", level)


def acts_otherwise(original: types.CodeType, candidate: types.CodeType, run: int) -> bool:
    """Return whether one run of a candidate is told from that of the original."""
    return observe(original, run, original) != observe(candidate, run, original)


def shown(mutant: Mutant) -> str:
    """Return what was changed, as a difference of texts."""
    before, after = (ast.unparse(ast.fix_missing_locations(tree)) for tree in (mutant.original, mutant.changed))
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=4))[2:]
    return "\n".join(f"      {line}" for line in lines)


def main() -> int:
    """Make mutants, verify them, print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("source", choices=SOURCES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--cross", action="store_true", help="print killed mutants that a rule calls the same")
    options = parser.parse_args()
    kinds: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for mutant in mutants(SOURCES[options.source](options.seed), options.seed, options.mutants):
        judgement = judged(mutant, cross=options.cross)
        if judgement is None:
            continue
        kinds[mutant.kind][judgement.outcome] += 1
        if judgement.outcome in ("unexplained", "acts otherwise", SAME_BY_RULE):
            print(
                f"  {judgement.level} {judgement.outcome}, {mutant.kind}: {mutant.subject.code}\n{shown(mutant)}",
                flush=True,
            )
    whole: Counter[str] = sum(kinds.values(), Counter())
    for kind, counts in [*kinds.items(), ("all", whole)]:
        killed = counts[KILLED] + counts[SAME_BY_RULE]
        print(f"{kind:20} killed {killed:5}   survived {counts.total() - killed:3}")
    for reason, count in whole.most_common():
        print(f"{options.source}, {reason}: {count}")
    return 1 if whole["acts otherwise"] or whole["unexplained"] else 0


if __name__ == "__main__":
    sys.exit(main())
