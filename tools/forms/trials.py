"""Try many changes of the form that a pass takes, each without and with a changed rule, in one run of the pipeline."""

from __future__ import annotations

import ast
import contextlib
import copyreg
import io
import pickle
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from depyf.bytecode.code import Code
from depyf.decompiler.pipeline.work import Work
from tools.forms.around import decompile_until, form_after
from tools.forms.changes import REFUSALS, ROWS, Done, NoForm, apply, ending, fields_of, in_place_of
from tools.forms.compiling import compiled_or_none
from tools.forms.limits import Late, limited
from tools.forms.mutants import Key, Mutant, applied
from tools.forms.reach import Noted, Way
from tools.forms.vary_changes import Spot, change, placed

MOST_MUTANTS = 12
"""Changed rules to try on one form."""


class _Pickler(pickle.Pickler):
    """Leaves code objects out, and makes nodes without their arguments."""

    def __init__(self, file: io.BytesIO, codes: list[Code]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.codes = codes

    def persistent_id(self, value: object) -> int | None:
        if not isinstance(value, Code):
            return None
        self.codes.append(value)
        return len(self.codes) - 1

    def reducer_override(self, value: object) -> Any:  # noqa: ANN401  pickle says so
        if isinstance(value, ast.AST):
            return copyreg.__newobj__, (type(value),), vars(value)  # type: ignore[attr-defined]
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, codes: list[Code]) -> None:
        super().__init__(io.BytesIO(data))
        self.codes = codes

    def persistent_load(self, number: int) -> Code:
        return self.codes[number]


@dataclass
class Snapshot:
    """What a pass takes, to be put back as often as is wanted."""

    data: bytes
    codes: list[Code]

    @classmethod
    def of(cls, name: str, work: Work) -> Snapshot:
        """Return what the pass of that name takes."""
        file, codes = io.BytesIO(), list[Code]()
        _Pickler(file, codes).dump(fields_of(name, work))
        return cls(file.getvalue(), codes)

    def put_back(self, work: Work) -> None:
        """Give a piece of work what it had."""
        for name, value in _Unpickler(self.data, self.codes).load().items():
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
            snapshot = Snapshot.of(name, work)
            found = placed(name, work)
            for _ in range(count if found else 0):
                kept = before if self.rng.random() < 0.5 else ""
                with contextlib.suppress(NoForm, Late):
                    self.one(name, work, snapshot, kept + _some(found, self.rng))

        with in_place_of(ROWS[name], ending(code, ROWS[name].run, run)), contextlib.suppress(Done, Late, Exception):
            decompile_until(code, name)

    def one(self, name: str, work: Work, snapshot: Snapshot, text: str) -> None:
        """Try one text of changes."""
        self.noted.now.clear()
        plain = self.given(name, work, snapshot, text)
        keys = [key for key in (self.noted.keys[number] for number in self.noted.now) if key in self.left]
        self.showing += [(key, text) for key in keys]
        for key in self.rng.sample(keys, min(len(keys), MOST_MUTANTS)):
            with applied(self.left[key]):
                try:
                    other = self.given(name, work, snapshot, text)
                except (Late, Exception):  # noqa: BLE001  a changed rule may raise anything, and that is a difference
                    other = ""
            if other != plain:
                self.telling.append((self.left[key], text))

    def given(self, name: str, work: Work, snapshot: Snapshot, text: str) -> str:
        """Return what the pass gives; the notes are of the pass alone."""
        snapshot.put_back(work)
        with limited(0.2):
            apply(work, name, text)
            self.noted.now.clear()
            try:
                ROWS_RUN[name](work)
            except REFUSALS as refusal:
                return f"refused: {type(refusal).__name__}: {refusal}"
            except Exception as error:
                raise NoForm(text) from error
            shown = set(self.noted.now)
            given = form_after(name, work)
        self.noted.now = shown
        return given


ROWS_RUN = {name: one.run for name, one in ROWS.items()}


def _some(found: list[Spot], rng: random.Random) -> str:
    return "".join(change(found, rng) for _ in range(rng.choice((1, 1, 2, 3))))
