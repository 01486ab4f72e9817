"""Test the verifier: see whether it tells functions from seeded wrong versions of them.

    python -m tests.quality.mutate --seed 0 --mutants 2000                  # of the standard library's functions
    python -m tests.quality.mutate --mutants 500 dump/full_code_*.py        # of the functions in these files

Prints, by kind of mutation, how many mutants were killed (UNPROVEN) and how many survived; the survivors by the class
that shows them to be the same program (`tests/quality/survivors`); and each that no class explains, with what was
changed: that is a hole in the verifier, unless the change changes nothing that can be observed. With `--cross` the
rules are asked about killed mutants too: one that they call the same shows that the verifier is too strict, or a rule
is wrong.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import random
import sysconfig
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from depyf.bytecode.reader import read
from depyf.errors import DecompilationError
from depyf.verify.compare import verify
from depyf.verify.level import Level
from tests.quality.mutations import KINDS
from tests.quality.survivors.explain import explained

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mutant:
    """A wrong version of a function: what kind of change, where the function is, and both texts."""

    kind: str
    place: str
    original: Function
    changed: Function


def functions(path: Path) -> list[Function]:
    """Return the functions and methods of a file, nested ones only as parts of theirs."""
    tree = ast.parse(path.read_bytes())
    found_functions: list[Function] = []
    pending: list[ast.AST] = [tree]
    while pending:
        for child in ast.iter_child_nodes(pending.pop()):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found_functions.append(bare(child))
            else:
                pending.append(child)
    return found_functions


def bare(function: Function) -> Function:
    """Leave out what belongs to the code around a function: decorators, defaults, annotations."""
    function.decorator_list, function.returns = [], None
    parameters = function.args
    parameters.defaults, parameters.kw_defaults = [], [None] * len(parameters.kwonlyargs)
    every = [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs, parameters.vararg, parameters.kwarg]
    for parameter in every:
        if parameter is not None:
            parameter.annotation = None
    return function


def compiled(function: Function) -> types.CodeType | None:
    """Return the code of a function compiled alone, or None where that is not legal."""
    module = ast.fix_missing_locations(ast.Module([function], type_ignores=[]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(module, "<mutant>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == function.name)


def mutants(paths: list[Path], seed: int, count: int) -> Iterator[Mutant]:
    """Yield mutants, chosen evenly among the kinds."""
    chance = random.Random(seed)
    pool: dict[Path, list[Function]] = {}
    count_made = 0
    for _ in range(50 * count):
        if count_made == count:
            return
        path = chance.choice(paths)
        if path not in pool:
            pool[path] = functions(path)
        if not pool[path]:
            continue
        original = chance.choice(pool[path])
        kind = chance.choice(list(KINDS))
        changed = copy.deepcopy(original)
        sites = list(KINDS[kind](changed))
        if sites:
            chance.choice(sites)()
            count_made += 1
            yield Mutant(kind, f"{path.name}:{original.lineno} {original.name}", original, changed)


def level(mutant: Mutant) -> Level | None:
    """Return the level that the verifier gives a mutant; None where it does not compile."""
    original, changed = compiled(mutant.original), compiled(mutant.changed)
    if original is None or changed is None:
        return None
    return verify(read(original), read(changed)).level


def why_same(mutant: Mutant) -> str | None:
    """Return the class that shows a mutant to be the same program (`tests/quality/survivors`), or None."""
    original, changed = compiled(mutant.original), compiled(mutant.changed)
    assert original is not None and changed is not None
    return explained(mutant.original, mutant.changed, (original, changed))


def shown(mutant: Mutant) -> str:
    """Return what was changed, as a difference of texts."""
    before, after = (ast.unparse(ast.fix_missing_locations(tree)) for tree in (mutant.original, mutant.changed))
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]
    return "\n".join(f"      {line}" for line in lines)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("paths", nargs="*", type=Path, help="files with functions; default: the standard library")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--cross", action="store_true", help="print killed mutants that a rule calls the same")
    return parser.parse_args()


def main() -> None:
    """Make mutants, verify them, print what became of them."""
    options = arguments()
    library = Path(sysconfig.get_path("stdlib"))
    paths = options.paths or sorted(library.glob("*.py"))
    killed: Counter[str] = Counter()
    survived: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    for mutant in mutants(paths, options.seed, options.mutants):
        try:
            result = level(mutant)
        except DecompilationError as error:
            print(f"  not read: {error}")
            continue
        if result is Level.UNPROVEN:
            killed[mutant.kind] += 1
            if options.cross and why_same(mutant) is not None:
                classes["killed, and yet the same by a rule"] += 1
                print(f"  killed, and yet the same by a rule: {mutant.place}\n{shown(mutant)}")
        elif result is not None:
            survived[mutant.kind] += 1
            reason = why_same(mutant)
            classes[reason or "unexplained"] += 1
            if reason is not None:
                continue
            print(f"  {result} {mutant.kind}: {mutant.place}\n{shown(mutant)}")
    for kind in KINDS:
        print(f"{kind:20} killed {killed[kind]:5}   survived {survived[kind]:3}")
    print(f"{'all':20} killed {killed.total():5}   survived {survived.total():3}")
    for reason, count in classes.most_common():
        print(f"mutants, {reason}: {count}")
    print(f"survivors unexplained: {classes['unexplained']}")


if __name__ == "__main__":
    main()
