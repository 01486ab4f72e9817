"""Try many changes of the form that a pass takes, each without and with a changed rule, in one run of the pipeline."""

from __future__ import annotations

import ast
import contextlib
import io
import pickle
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from depyf.bytecode.code import Code
from depyf.decompiler.pipeline.table import BUILD
from depyf.decompiler.pipeline.work import Stage, Work
from tests.quality.forms.around import decompile_until, form_after
from tests.quality.forms.changes import REFUSALS, ROWS, Done, NoForm, apply, ending, fields_of, in_place_of
from tests.quality.forms.compiling import compiled_or_none
from tests.quality.forms.limits import Late, limited
from tests.quality.forms.mutants import Key, Mutant, applied
from tests.quality.forms.reach import Noted, Way
from tests.quality.forms.vary_changes import Spot, change, placed

MOST_MUTANTS = 12
"""Changed rules to try on one form."""


CODES: dict[int, Code] = {}
"""Code objects that snapshots hold, by identity: they are not copied."""


def code_at(number: int) -> Code:
    """Return a code object that a snapshot holds."""
    return CODES[number]


def _of_code(code: Code) -> tuple[object, ...]:
    CODES[id(code)] = code
    return code_at, (id(code),)


def _of_node(node: ast.AST) -> tuple[object, ...]:
    return _bare, (type(node),), vars(node)


def _bare(kind: type[ast.AST]) -> ast.AST:
    """Return a node without its fields: those of ours cannot be made without arguments."""
    return kind.__new__(kind)


def _kinds(kind: type[ast.AST]) -> Iterator[type[ast.AST]]:
    yield kind
    for subclass in kind.__subclasses__():
        yield from _kinds(subclass)


_TABLE: dict[type, Callable[[Any], Any]] = {Code: _of_code, **dict.fromkeys(_kinds(ast.AST), _of_node)}


@dataclass
class Snapshot:
    """What a pass takes, to be put back as often as is wanted."""

    data: bytes

    @classmethod
    def of(cls, parts: dict[str, object]) -> Snapshot:
        """Return what some fields of a piece of work hold."""
        file = io.BytesIO()
        pickler = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
        pickler.dispatch_table = _TABLE
        pickler.dump(parts)
        return cls(file.getvalue())

    def put_back(self, work: Work) -> None:
        """Give a piece of work what it had."""
        for name, value in pickle.loads(self.data).items():
            setattr(work, name, value)


@dataclass
class Trials:
    """Changes of the form of one source, and which changed rules they tell."""

    noted: Noted
    left: Mapping[Key, Mutant]
    rng: random.Random
    showing: list[tuple[Key, str]] = field(default_factory=list)
    telling: list[tuple[Mutant, str]] = field(default_factory=list)

    def run(self, way: Way, before: str, count: int) -> None:
        """Try so many changes, each behind those that are there."""
        source, version, name = way
        code = compiled_or_none(source, version)
        if code is None:
            return

        def run(work: Work) -> None:
            snapshot = Snapshot.of(fields_of(name, work))
            spots = placed(name, work)
            for _ in range(count if spots else 0):
                kept = before if self.rng.random() < 0.5 else ""
                with contextlib.suppress(NoForm, Late):
                    self.one(name, work, snapshot, kept + _some(spots, self.rng))

        with in_place_of(ROWS[name], ending(code, ROWS[name].run, run)), contextlib.suppress(Done, Late, Exception):
            decompile_until(code, name)

    def one(self, name: str, work: Work, snapshot: Snapshot, text: str) -> None:
        """Try one text of changes."""
        plain = self.given(name, work, snapshot, text)
        keys = [key for key in (self.noted.keys[number] for number in self.noted.now) if key in self.left]
        self.showing += [(key, text) for key in keys]
        for key in self.rng.sample(keys, min(len(keys), MOST_MUTANTS)):
            if self.tells(self.left[key], plain, name, work, partial(self.given, name, work, snapshot, text)):
                self.telling.append((self.left[key], text))

    def tells(
        self, mutant: Mutant, plain: Snapshot | str, name: str, work: Work, given: Callable[[], Snapshot | str]
    ) -> bool:
        """Return whether a pass gives something else with a changed rule."""
        try:
            with applied(mutant):
                other = given()
            return other != plain and shown(name, work, other) != shown(name, work, plain)
        except (Late, Exception):  # noqa: BLE001  a changed rule may raise anything, and that is a difference
            return True

    def given(self, name: str, work: Work, snapshot: Snapshot, text: str) -> Snapshot | str:
        """Return what the pass gives, or why it refuses the form; the notes are of the pass alone."""
        snapshot.put_back(work)
        with limited(0.2):
            apply(work, name, text)
            self.noted.now.clear()
            try:
                ROWS_RUN[name](work)
            except REFUSALS as refusal:
                return f"{type(refusal).__name__}: {refusal}"
            except Exception as error:
                raise NoForm(text) from error
        return Snapshot.of({field: getattr(work, field) for field in made_by(name) if hasattr(work, field)})


def made_by(name: str) -> tuple[str, ...]:
    """Return the fields of a piece of work in which a pass leaves what it gives."""
    stage = ROWS[name].stage
    if name in (BUILD, "hoist"):
        return ("items",)
    if name == "labels" or stage is Stage.STATEMENTS:
        return ("stmts",)
    if stage in (Stage.BODY, Stage.WHOLE):
        return ("body",)
    return ("graph",) if name == "lift" or stage is Stage.LIFT else ("graph", "nest", "scope", "markers")


def shown(name: str, work: Work, given: Snapshot | str) -> str:
    """Return what a pass has given as text."""
    if isinstance(given, str):
        return given
    given.put_back(work)
    return form_after(name, work)


ROWS_RUN = {name: row.run for name, row in ROWS.items()}


def _some(spots: list[Spot], rng: random.Random) -> str:
    return "".join(change(spots, rng) for _ in range(rng.choice((1, 1, 2, 3))))
