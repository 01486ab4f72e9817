"""Hold the verifier against runs: small wrong versions of random programs, each of which it accepts being run as well.

    python -m tests.quality.random_mutants [--seed 0] [--mutants 50000]

Random functions are written, of which all that they do is observed: calls, operators, tests, imports, the variables
that `locals()` shows, what is raised and returned. Of each some wrong versions are made (`tests/quality/mutations.py`).
What the verifier accepts is run beside the original on scripted operands. Prints how many mutants were killed, how many
were accepted and ran the same, and each that was accepted and ran otherwise: that is a hole. Exit code 1 for any.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
import sys
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from depyf.bytecode.reader import read
from depyf.errors import DecompilationError
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests.quality.mutations import KINDS
from tests.verify.random_programs import Writer, observe

MUTANTS_OF_ONE = 10
RUNS = 16
"""How often both functions are run."""
EXPRESSIONS = (
    "g(list(locals().items()))",
    "g(eval('x'))",
    "[q for q in {128, 64, 0}]",
    "(ONE).method(TWO)",
    "a[ONE:TWO]",
    "(y := ONE)",
    'f"{(ONE)!r:>{(x, y)}}"',
    "(ONE < TWO < c)",
    "(ONE in TWO)",
    "(a @ TWO)",
    "g(**{'k': ONE})",
    "(lambda q=ONE: (q, x))",
    "{ONE is None, 3}",
    "g((yes for yes in (1, 2)), TWO)",
    "(ONE, *TWO)",
)
"""Expressions beside those of the plain writer; ONE and TWO are others."""
STATEMENTS = (
    "a.attr, b.attr = ONE, TWO",
    "del a.attr",
    "del a[ONE]",
    "b += ONE",
    "a.attr += ONE",
    "assert ONE, TWO",
    "raise KeyError(ONE) from TWO",
    "def x(q, *, r=ONE): return q, TWO",
    "class x:\n    one = ONE\n    two = TWO",
    "import sys as y",
    "global h; h = ONE",
)


class Wider(Writer):
    """Writes one random function, of more kinds of statements and expressions."""

    def expression(self, depth: int = 1) -> str:
        """Return an expression."""
        if depth == 0 or self.chance.random() < 0.7:
            return super().expression(depth)
        first, second = super().expression(0), super().expression(depth - 1)
        return self.chance.choice(EXPRESSIONS).replace("ONE", first).replace("TWO", second)

    def statement(self, depth: int) -> None:
        """Write a statement."""
        if self.chance.random() < 0.75:
            super().statement(depth)
            return
        text = self.chance.choice(STATEMENTS).replace("ONE", self.expression(0)).replace("TWO", self.expression())
        for line in text.split("\n"):
            self.put(depth, line)


@dataclass(frozen=True)
class Mutant:
    """A wrong version of a random function."""

    kind: str
    original: ast.FunctionDef
    changed: ast.FunctionDef


def mutants(seed: int) -> Iterator[Mutant]:
    """Yield wrong versions of one random function."""
    chance = random.Random(seed)
    original = ast.parse(Wider(seed).text()).body[0]
    assert isinstance(original, ast.FunctionDef)
    for _ in range(MUTANTS_OF_ONE):
        kind = chance.choice(list(KINDS))
        changed = copy.deepcopy(original)
        actions = list(KINDS[kind](changed))
        if actions:
            chance.choice(actions)()
            yield Mutant(kind, original, ast.fix_missing_locations(changed))


def code_of(function: ast.FunctionDef) -> types.CodeType | None:
    """Return the code of a function; None where it is no Python."""
    try:
        # The text, not the tree: a tree can say what no text says.
        module = compile(ast.unparse(function) + "\n", "<random>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return next(const for const in module.co_consts if isinstance(const, types.CodeType))


def runs(code: types.CodeType) -> list[list[object]]:
    """Return all that can be observed of some runs."""
    return [observe(types.FunctionType(code, {}), seed) for seed in range(RUNS)]


def judged(mutant: Mutant) -> str:
    """Return how the verifier takes a mutant, and what a run says of one that it accepts."""
    codes = code_of(mutant.original), code_of(mutant.changed)
    if codes[0] is None or codes[1] is None:
        return "no Python"
    try:
        level = verify(read(codes[0]), read(codes[1])).level
    except DecompilationError:
        return "failed"
    if level is Level.UNPROVEN:
        return "killed"
    return f"{level}, the same" if runs(codes[0]) == runs(codes[1]) else "DIFFERENT"


def main() -> int:
    """Print the counts, and each hole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of the first function")
    parser.add_argument("--mutants", type=int, default=50_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    seed = arguments.seed
    while counts.total() - counts["no Python"] < arguments.mutants:
        for mutant in mutants(seed):
            verdict = judged(mutant)
            counts[verdict] += 1
            if verdict in ("DIFFERENT", "failed"):
                print(f"{verdict}: seed {seed}, {mutant.kind}", ast.unparse(mutant.original), sep="\n")
                print("is not", ast.unparse(mutant.changed), sep="\n", flush=True)
        seed += 1
    text = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"{seed - arguments.seed} functions: {text}")
    return int(bool(counts["DIFFERENT"] or counts["failed"]))


if __name__ == "__main__":
    sys.exit(main())
