"""Find the sources that can show a changed rule: those with which the rule is asked, and its answer matters.

An operand of `and` matters where it is the first that is false, a branch where it runs. Each function of the modules
is exchanged for one that notes this.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from depyf.bytecode.code import Version
from depyf.decompiler.lift.simplify import Known
from depyf.decompiler.passes.conditions import simplifies
from depyf.decompiler.pipeline.run import decompile
from depyf.decompiler.pipeline.table import BUILD, SCOPES
from depyf.decompiler.pipeline.work import Work
from depyf.decompiler.steps import recording
from tests.quality.forms.around import FORCED, KNOWN, ROWS, SOURCE, decompile_until, form_after, forms
from tests.quality.forms.cases import DECOMPILER, modules
from tests.quality.forms.changes import changes_of, changing
from tests.quality.forms.compiling import compiled_or_none
from tests.quality.forms.limits import Late, limited
from tests.quality.forms.mutants import EARLY_NODE, KINDS, Function, Key, compiled_function, functions_of, live_function
from tests.quality.forms.operations import listings_for

Way = tuple[str, Version, str]
"""A source, the Python that compiles it, and the pass to look at."""
Ways = dict[Key, list[Way]]
SMALL, OTHERS = 30, 30
"""Ways to keep for a rule: the first, and of those behind them."""
RUNS, SHOWS = "__rule_runs__", "__rule_shows__"
Setting = tuple["Known | None", frozenset[str]]
PLAIN: Setting = (None, frozenset())
SETTINGS: tuple[Setting, ...] = (
    PLAIN,
    (KNOWN, frozenset()),
    (None, frozenset({BUILD})),
    (None, frozenset({BUILD, SCOPES})),
)


@dataclass
class Noted:
    """Which rules mattered in which pass: a recorder."""

    keys: list[Key] = field(default_factory=list)
    now: set[int] = field(default_factory=set)
    found: dict[int, str] = field(default_factory=dict)

    def begin(self, work: Work) -> None:
        """Hear that a code object is begun."""

    def attempt(self, work: Work, why: str) -> None:
        """Hear that a code object is begun again."""

    def step(self, message: str) -> None:
        """Pass over a step."""

    def after(self, name: str, work: Work) -> None:
        """Note the rules that mattered since the pass before."""
        for key in self.now:
            self.found.setdefault(key, name)
        self.now.clear()

    def runs(self, key: int, given: object = None) -> object:
        """Note that a rule is asked."""
        self.now.add(key)
        return given

    def shows(self, key: int, given: object, wanted: bool) -> object:
        """Note an operand that decides."""
        if bool(given) == wanted:
            self.now.add(key)
        return given


@contextlib.contextmanager
def noting(names: Iterable[str]) -> Iterator[Noted]:
    """Run with functions that note which rules mattered."""
    noted, replaced = Noted(), []
    for module in names:
        live = importlib.import_module("depyf.decompiler." + module.replace("/", "."))
        path = DECOMPILER / f"{module}.py"
        for owner, node in functions_of(ast.parse(path.read_text(encoding="utf-8"))):
            function = live_function(getattr(live, owner) if owner else live, node.name)
            if function is None:
                continue
            _mark(node, noted, (module, owner, node.name))
            code = compiled_function(node, path)
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                function.__globals__.update({RUNS: noted.runs, SHOWS: noted.shows})
                replaced.append((function, function.__code__))
                function.__code__ = code
    try:
        yield noted
    finally:
        for function, code in replaced:
            function.__code__ = code


def _mark(function: Function, noted: Noted, owner: tuple[str, str, str]) -> None:
    """Put notes into a function, in place."""

    def key(place: int, kind: int, number: int) -> ast.expr:
        noted.keys.append((*owner, place, kind, number))
        return ast.Constant(len(noted.keys) - 1)

    def call(name: str, *parts: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(name, ast.Load()), list(parts), [])

    negated, operand, branch, case = range(len(KINDS))
    for place, node in enumerate(list(ast.walk(function))):
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            node.test = call(RUNS, key(place, negated, 0), node.test)
        elif isinstance(node, ast.comprehension):
            node.ifs = [call(RUNS, key(place, negated, number), test) for number, test in enumerate(node.ifs)]
        elif isinstance(node, ast.BoolOp):
            wanted = ast.Constant(isinstance(node.op, ast.Or))
            operands = enumerate(node.values)
            node.values = [call(SHOWS, key(place, operand, number), value, wanted) for number, value in operands]
        elif isinstance(node, ast.Match):
            for number, match_case in enumerate(node.cases):
                match_case.body.insert(0, ast.Expr(call(RUNS, key(place, case, number))))
        if isinstance(node, ast.If):
            for number, body in enumerate((node.body, node.orelse)):
                if body:
                    body.insert(0, ast.Expr(call(RUNS, key(place, branch, number))))
    for number in range(2):
        function.body.insert(0, ast.Expr(call(RUNS, key(EARLY_NODE, 0, number))))


def reached(sources: Iterable[tuple[str, Version]], names: Iterable[str] = ()) -> Ways:
    """Return the sources that can show each rule of modules (or of all), first ones first, and in which pass."""
    by_rule: Ways = defaultdict(list)
    counts: dict[Key, int] = defaultdict(int)
    with noting(names or modules()) as noted:
        for number, (source, version) in enumerate(sources):
            for key, name in ways_of(noted, source, version, SETTINGS if number % 4 == 0 else SETTINGS[:1]):
                counts[key] += 1
                ways, count = by_rule[key], counts[key]
                if len(ways) < SMALL + OTHERS:
                    ways.append((source, version, name))
                elif count % 7 == 0:
                    ways[SMALL + count // 7 % OTHERS] = (source, version, name)
    return by_rule


def ways_of(noted: Noted, source: str, version: Version, settings: Iterable[Setting]) -> Iterator[tuple[Key, str]]:
    """Yield the rules that a source can show, each with a pass."""
    code = compiled_or_none(source, version)
    if code is None:
        return
    for setting in settings:
        noted.found.clear()
        noted.now.clear()
        with contextlib.suppress(Exception, Late), recording(noted), limited(4.0):
            if setting == PLAIN:
                forms(code, SOURCE)
            else:
                decompile(code, known=setting[0], without=setting[1], listings=listings_for(code))
        for key in noted.now:
            noted.found.setdefault(key, SOURCE)
        for number, name in noted.found.items():
            if setting_of(name) == setting:
                yield noted.keys[number], name


def changed_keys(noted: Noted, source: str, version: Version, name: str) -> list[Key]:
    """Return the rules that a changed form shows in a pass."""
    code = compiled_or_none(source, version)
    noted.now.clear()
    if code is not None:
        with contextlib.suppress(Exception, Late), limited(), changing(
            code, name, changes_of(code) or "", form_after, noted.now.clear
        ) as changed:
            decompile_until(code, name)
        if not changed.ran:
            return []
    return [noted.keys[number] for number in noted.now]


def setting_of(name: str) -> Setting:
    """Return how the form around a pass is made."""
    if name == SOURCE:
        return PLAIN
    return KNOWN if ROWS[name].applies is simplifies else None, FORCED.get(name, frozenset())
