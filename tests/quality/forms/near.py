"""Choose near misses: forms that differ a little from those that a pass takes, and show a changed rule.

    python -m tests.quality.forms.near exits except_star        # or all passes of tests/decompiler/test_forms.py

A form before the pass, as text, is varied: a line goes, comes twice or changes places with the next, a word is
exchanged for another word of the same kind. What still is a valid form, and what the pass still takes, is a case.
"""

from __future__ import annotations

import argparse
import random
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from depyf.decompiler.show.check.graph import broken
from depyf.decompiler.show.check.tree import broken_statements
from depyf.decompiler.show.read_graph import read_graph
from depyf.decompiler.show.read_tree import read_tree
from tests.decompiler.test_forms import CASES, FOLDER, ON_ITEMS, PASSES, TREES, UNCHANGED, Case, code_of
from tests.quality.forms.around import ROWS, forms
from tests.quality.forms.cases import modules
from tests.quality.forms.choose import known_ways
from tests.quality.forms.compiling import compiled_or_none
from tests.quality.forms.equivalent import parted
from tests.quality.forms.limits import Late, limited
from tests.quality.forms.measure import caught, own_cases
from tests.quality.forms.mutants import Mutant
from tests.quality.forms.reach import Ways

OWN = (3, 11)
SOURCES = 40
VARIED = 700
"""Forms to try for a pass."""
LONGEST = 110
"""Lines of a form."""
UNCHANGED_TEXT = f"{UNCHANGED}\n"
MOST_LINES = 480
WORDS = tuple(
    map(re.compile, (r"\bv\d+\b", r"(?<![\w'.])\d+\b", r"'[^']*'", r"\b[A-Z][A-Z_]+\b", r"\b[a-z_][a-z_0-9]*\b"))
)


def module_of(name: str) -> str:
    """Return the module that a pass of the tests is of."""
    return next(module for module in modules() if module.rpartition("/")[2] == name)


def befores(name: str, ways: Ways) -> Iterator[tuple[str, str]]:
    """Yield sources, and their forms before a pass: of the cases that are there, and of small functions."""
    for case in CASES:
        if case.pass_name == name:
            yield case.source, case.before
    module = module_of(name)
    rules = sorted((of_rule for key, of_rule in ways.items() if key[0] == module), key=len)
    rows = [row for ways in rules for _, _, row in ways]
    row = next((candidate for candidate in (name.replace("_", "-"), *rows) if candidate in ROWS), None)
    # Small sources for each rule, those of the rules that few show first.
    sources_of_rules = [[source for source, version, _ in ways if version == OWN][:3] for ways in rules]
    for source in list(dict.fromkeys(source for sources in sources_of_rules for source in sources))[
        : SOURCES if row else 0
    ]:
        code = compiled_or_none(source, OWN)
        for before, _ in forms(code, str(row))[:1] if code is not None else []:
            if before.count("\n") <= LONGEST:
                yield source, before


def varied(text: str, rng: random.Random) -> str:
    """Return a form with one change."""
    lines = text.splitlines()
    place = rng.randrange(len(lines))
    match rng.randrange(8):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, lines[place])
        case 2:
            lines[place : place + 2] = reversed(lines[place : place + 2])
        case _:
            word = rng.choice(WORDS)
            others, here = sorted(set(word.findall(text))), list(word.finditer(lines[place]))
            if here:
                old = rng.choice(here)
                lines[place] = lines[place][: old.start()] + rng.choice(others) + lines[place][old.end() :]
    return "\n".join(lines) + "\n"


def is_valid(name: str, source: str, before: str) -> bool:
    """Return whether a text is a form that a pass may be given."""
    try:
        code = code_of(source)
        if name in TREES:
            body: list[Any] = read_tree(before, code, are_items=name in ON_ITEMS)
            return name in ON_ITEMS or not any(broken_statements(body, finished=False))
        return not any(broken(read_graph(before, code)))
    except Exception:  # noqa: BLE001  a varied text may be nothing at all
        return False


def pool(name: str, ways: Ways) -> list[Case]:
    """Return varied forms with what the pass gives for each, small ones first."""
    rng = random.Random(name)
    sources = list(befores(name, ways))
    by_form: dict[str, Case] = {}
    for number in range(VARIED if sources else 0):
        source, before = sources[number] if number < len(sources) else rng.choice(sources)
        if number >= len(sources):
            before = varied(varied(before, rng) if number % 3 == 0 else before, rng)
        if before in by_form or not is_valid(name, source, before):
            continue
        case = given_case(Case(f"{name}: ", source, before, ""))
        if case is not None:
            by_form[before] = case
    return sorted(by_form.values(), key=lambda case: (len(case.source) + len(case.before), case.before))


def given_case(case: Case) -> Case | None:
    """Return a case with what its pass gives, or None where it refuses the form."""
    try:
        with limited():
            return Case(case.title, case.source, case.before, case.given())
    except (Exception, Late):  # noqa: BLE001  as above
        return None


def titled(case: Case, mutant: Mutant) -> Case:
    """Return a case that is named after the rule that it shows."""
    title = case.pass_name + ": " + str(mutant).replace("\n", " ").replace("## ", "")[:90]
    return Case(title, case.source, case.before, case.after)


def choose(name: str, ways: Ways) -> list[Case]:
    """Return the cases that catch more of the changed rules of a pass."""
    module = module_of(name)
    cases_of_module = own_cases(module)
    missed = [mutant for mutant in parted(module)[0] if not caught(mutant, cases_of_module)]
    chosen: list[Case] = []
    tried = pool(name, ways) if missed else []
    for mutant in missed:
        if sum(text(case).count("\n") + 1 for case in chosen) > MOST_LINES:
            break
        if not caught(mutant, chosen):
            chosen += [titled(case, mutant) for case in tried if caught(mutant, [case])][:1]
    for changes in (True, False):
        if not any((case.after != UNCHANGED_TEXT) == changes for case in [*CASES, *chosen] if case.pass_name == name):
            kind = "changed" if changes else "near miss"
            fitting = [case for case in tried if (case.after != UNCHANGED_TEXT) == changes][:1]
            chosen += [Case(f"{name}: {kind}", case.source, case.before, case.after) for case in fitting]
    print(f"{name}: {len(missed)} not caught, {len(tried)} forms, {len(chosen)} cases more", flush=True)
    return chosen


def text(case: Case) -> str:
    """Return a case as it stands in a file."""
    return f"## {case.title}\n{case.source}---\n{case.before}---\n{case.after}"


def main() -> None:
    """Choose near misses for passes and add them to their files."""
    parser = argparse.ArgumentParser(description="Choose near misses for the passes on graphs and trees.")
    parser.add_argument("names", nargs="*", choices=[[], *PASSES, *TREES])
    parser.add_argument("--every", type=int, default=4, help="use one source of so many")
    parser.add_argument("--ways", type=Path, help="file that keeps which source runs which line")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ways = known_ways(options.ways, options.every)
    for name in options.names or [*PASSES, *TREES]:
        chosen = choose(name, ways)
        if chosen:
            path = FOLDER / f"near_{name}.txt"
            before = path.read_text(encoding="utf-8") + "\n" if path.exists() else ""
            path.write_text(before + "\n".join(map(text, chosen)), encoding="utf-8")


if __name__ == "__main__":
    main()
