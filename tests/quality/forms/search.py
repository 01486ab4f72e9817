"""Search for cases that no source gives as it is: sources that show a rule, or come near, are varied.

    python -m tests.quality.forms.search structure/exits --ways FILE      # or all modules

What shows the rule that is looked for, and gives no other form with it changed, is varied in its turn.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from depyf.bytecode.normalise import normalise
from depyf.errors import DecompilationError
from tests.quality.forms.around import ROWS
from tests.quality.forms.cases import cases, modules, write
from tests.quality.forms.changes import CHANGED
from tests.quality.forms.changes import MARK as CHANGES
from tests.quality.forms.choose import Chooser, known_ways
from tests.quality.forms.compiling import compiled_or_none, compiled_piece
from tests.quality.forms.equivalent import parted
from tests.quality.forms.limits import seconds
from tests.quality.forms.measure import caught, own_cases
from tests.quality.forms.mutants import Key, Mutant
from tests.quality.forms.operations import MARK, NoOperations, text_of
from tests.quality.forms.reach import SETTINGS, Noted, Way, Ways, noting, ways_of
from tests.quality.forms.trials import Trials
from tests.quality.forms.vary import varied

BATCH = 40
"""Sources that are varied between two looks."""
OPERATIONS = 0.35
"""How many sources are varied in their operations."""
CHANGES_OF_FORMS = 0.7
"""How many times a form is changed, and not a source."""
OF_ONE_FORM = 40
MOST_CHANGES = 4
MOST_KEPT = 10000
MOST_TRIED = 25
"""Sources that show a rule and do not tell it; behind them, one in ten is tried."""


@dataclass
class Search:
    """Searches for cases of one module."""

    chooser: Chooser
    left: dict[Key, Mutant]
    bases: dict[Key, list[Way]]
    rng: random.Random
    tried: dict[Key, int] = field(default_factory=dict)
    telling: dict[Key, Way] = field(default_factory=dict)
    """Changed forms that tell a rule."""

    def run(self, limit: float) -> None:
        """Vary sources until no changed rule is left, or the time is up."""
        begun = seconds()
        while self.left and seconds() - begun < limit:
            reaching = self.reaching()
            telling, self.telling = self.telling, {}
            for key, way in [*telling.items(), *reaching]:
                mutant = self.left.get(key)
                if mutant is not None:
                    self.look(mutant, way)

    def reaching(self) -> list[tuple[Key, Way]]:
        """Return varied sources, and which rules they show."""
        reached: list[tuple[Key, Way]] = []
        if len(CHANGED) > MOST_KEPT:
            CHANGED.clear()
            compiled_piece.cache_clear()
            self.chooser.first.clear()
        with noting([self.chooser.module]) as noted:
            for _ in range(BATCH):
                base = self.base()
                if base[2] in ROWS and self.rng.random() < CHANGES_OF_FORMS:
                    self.changed(noted, base)
                    continue
                others = [self.base()[0].partition(CHANGES)[0]]
                source = varied(self.text(base), others, self.rng)
                if source is None:
                    continue
                wanted = [
                    setting for setting in SETTINGS if self.rng.random() < (0.8 if setting is SETTINGS[0] else 0.15)
                ]
                for key, name in ways_of(noted, source, base[1], wanted):
                    if key in self.left:
                        reached.append((key, (source, base[1], name)))
        return reached

    def changed(self, noted: Noted, base: Way) -> None:
        """Change a form, note what tells a rule, and keep what shows one to be changed more."""
        source, version, name = base
        source, _, before = source.partition(CHANGES)
        trials = Trials(noted, self.left, self.rng)
        trials.run((source, version, name), before if before.count("\n") < MOST_CHANGES else "", OF_ONE_FORM)
        for mutant, text in trials.telling:
            self.telling.setdefault(mutant.key, (source + CHANGES + text, version, name))
        for key, text in trials.showing:
            if key in self.bases and self.rng.random() < 0.2:
                self.bases[key][self.rng.randrange(len(self.bases[key]))] = source + CHANGES + text, version, name

    def base(self) -> Way:
        """Return a source to vary, for any rule that is left; rather a short one."""
        bases = self.bases[self.rng.choice(list(self.left))]
        return min(self.rng.choices(bases, k=2), key=lambda way: len(way[0]))

    def text(self, base: Way) -> str:
        """Return a source, or now and then its operations."""
        base = base[0].partition(CHANGES)[0], base[1], base[2]
        code = compiled_or_none(*base[:2]) if MARK not in base[0] and self.rng.random() < OPERATIONS else None
        with contextlib.suppress(NoOperations, DecompilationError):
            if code is not None:
                return base[0] + MARK + text_of(normalise(code))
        return base[0]

    def look(self, mutant: Mutant, way: Way) -> None:
        """Take a source as a case if it tells a changed rule."""
        tried = self.tried[mutant.key] = self.tried.get(mutant.key, 0) + 1
        if tried > MOST_TRIED and tried % 10:
            return
        cases_taken = self.chooser.taken(mutant, way)
        if not cases_taken:
            bases = self.bases[mutant.key]
            if len(way[0]) < 500:
                bases[self.rng.randrange(len(bases))] = way
            return
        self.chooser.chosen += cases_taken
        left = self.chooser.not_caught(list(self.left.values()), cases_taken[0])
        self.left = {mutant.key: mutant for mutant in left}


def searched(module: str, ways: Ways, limit: float) -> Search:
    """Search for cases of a module: so many seconds for each changed rule that is not caught."""
    cases_of_module = own_cases(module)
    left = {mutant.key: mutant for mutant in parted(module)[0] if not caught(mutant, cases_of_module)}
    of_module = [way for key, of_rule in ways.items() if key[0] == module for way in of_rule]
    bases: dict[Key, list[Way]] = {}
    for key in left:
        of_function = [way for other, of_rule in ways.items() if other[:3] == key[:3] for way in of_rule]
        bases[key] = [*ways.get(key, ())] or of_function or of_module
    left = {key: mutant for key, mutant in left.items() if bases[key]}
    search = Search(Chooser(module, ways), left, bases, random.Random(module))
    missed = len(left)
    search.run(limit * missed)
    print(f"{module}: {missed} not caught, now {len(search.left)}; {len(search.chooser.chosen)} cases more", flush=True)
    return search


def main() -> None:
    """Search for cases of modules and add them."""
    parser = argparse.ArgumentParser(description="Search for cases of rules that no source shows as it is.")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--every", type=int, default=1, help="use one source of so many")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds for each changed rule that is not caught")
    parser.add_argument("--ways", type=Path, help="file that keeps which sources show which rule")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ways = known_ways(options.ways, options.every)
    for module in options.modules or modules():
        chosen = searched(module, ways, options.limit).chooser.chosen
        if chosen:
            write(module, [*cases(module), *chosen])


if __name__ == "__main__":
    main()
