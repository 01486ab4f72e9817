"""Parse why the entries of a function refused a call, from torch's record of a recompile: one text for each entry.

The record of a function with n entries has n texts, of which n - 1 are the same as in the previous record. They are not
parsed again, because n compiles would otherwise parse a quadratic number of texts.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import field

from depyf.bytecode.patterns import pattern
from depyf.bytecode.records import dataclass
from depyf.model.guard_failure import GuardFailure
from depyf.model.reproducible import reproducible, reproducible_code
from depyf.model.run import MOST_ENTRIES, FailedEntry, OtherEntries, Recompile
from depyf.model.torch_text import guard_failure, without_comment
from depyf.model.user_line import UserLine

_REFUSAL = pattern(r"^(?P<entry>\d+/\d+): (?P<clause>.*)$", re.DOTALL)
_DEVICE_INDEX = pattern(r"(?<=Expected device index to be )[^,]|(?<=, actual )[\x00-\x1f]")
_DIFFERS = pattern(r"(?<=[=<>] )'(?:[^'\\]|\\.)*'|(?<=[=<>] )\"(?:[^\"\\]|\\.)*\"|(?<![\w.:'])-?\d+(?:\.\d+)?\b")
"""The difference between the clauses of two entries with the same guard: the string or number that is compared."""
_MOST_FORMS = 4
MOST_TEXTS = 1024
"""The number of refusals whose parsed form is cached."""
_PLACE_OF_CLAUSE = pattern(r"(?P<file>\S+):(?P<line>\d+) in (?P<function>\S+)(?: \(\S+:\d+ in \S+\))?$")
"""The user's line. After it, for a condition, torch names its own line that made it."""
_BEGINS, _NEXT = "[\n", ",\n"
"""torch's format of a list of texts, one per line."""


class Listed(str):
    """A list of texts in the place of a text of torch's trace, to avoid joining them. The string itself is empty."""

    texts: list[str]

    def __new__(cls, texts: list[str]) -> Listed:
        """Hold texts."""
        listed = super().__new__(cls)
        listed.texts = texts
        return listed


@dataclass(slots=True)
class _Read:
    """The last record: its text after the bracket, the clauses by entry, and the entries in their order.

    listed: the texts, if they are a list.
    forms: those of the first `formed` entries.
    """

    text: str = ""
    listed: list[str] = field(default_factory=list)
    clauses: dict[str, list[str]] = field(default_factory=dict)
    entries: list[str] = field(default_factory=list)
    forms: dict[str, None] = field(default_factory=dict)
    formed: int = 0

    def add(self, entry: str, clause: str) -> bool:
        """Add the clause of an entry that is newer than all known entries; return whether it is."""
        if self.entries and _entry_order(entry) <= _entry_order(self.entries[-1]):
            return False
        self.clauses[entry] = [clause]
        self.entries.append(entry)
        return True

    def told(self) -> Recompile:
        """Return the refusals of the newest entries one by one, and the others together."""
        newest = tuple(_failed(entry, tuple(self.clauses[entry])) for entry in self.entries[-MOST_ENTRIES:])
        count = len(self.entries) - len(newest)
        if not count:
            return Recompile(newest, None)
        for entry in self.entries[self.formed : count]:
            self.forms.update(dict.fromkeys(map(_form, self.clauses[entry])))
        self.formed = count
        forms = tuple(map(reproducible, list(self.forms)[:_MOST_FORMS]))
        return Recompile(newest, OtherEntries(count, self.entries[0], self.entries[count - 1], forms))


_LAST: list[_Read] = []
"""The last parsed record, if any. A reader removes it, so that no two threads use it."""


def recompile(payload: str) -> Recompile:
    """Parse why the entries of a function refused a call. torch writes a text, or a list of texts, one per entry.

    A function with many entries has as many refusals in each compile. Only those of the newest entries are listed.
    """
    try:
        last = _LAST.pop()
    except IndexError:
        last = _Read()
    read = _continued(last, payload) or _read(payload)
    _LAST[:] = [read]
    return read.told()


def _continued(last: _Read, payload: str) -> _Read | None:
    """Return the refusals of a record that contains the last record after newer entries, or None."""
    if isinstance(payload, Listed):
        new = len(payload.texts) - len(last.listed)
        if not last.listed or new < 1 or payload.texts[new:] != last.listed:
            return None
        last.listed = payload.texts
        return last if _add(last, _texts(Listed(payload.texts[:new]))) else None
    if not (last.text and payload.endswith(last.text) and payload.startswith(_BEGINS)):
        return None
    text = payload.removeprefix(_BEGINS)
    before = text.removesuffix(last.text)
    if not before.endswith(_NEXT):
        return None
    last.text = text
    return last if _add(last, _texts(f"[{before.removesuffix(_NEXT)}]")) else None


def _add(last: _Read, texts: list[str]) -> bool:
    """Add the texts of newer entries, newest first; return whether all of them are newer."""
    return all(last.add(*_refusal(text)) for text in reversed(texts))


def _read(payload: str) -> _Read:
    read = _Read(payload.removeprefix(_BEGINS) if payload.startswith(_BEGINS) else "")
    if isinstance(payload, Listed):
        read.listed = payload.texts
    for text in _texts(payload):
        entry, clause = _refusal(text)
        read.clauses.setdefault(entry, []).append(clause)
    read.entries = sorted(read.clauses, key=_entry_order)
    return read


def _texts(payload: str) -> list[str]:
    try:
        loaded = payload.texts if isinstance(payload, Listed) else json.loads(payload)
    except ValueError:
        loaded = payload
    texts = [str(text) for text in loaded] if isinstance(loaded, list) else [str(loaded)]
    return [_DEVICE_INDEX.sub(_index_as_number, text) for text in texts]


def _index_as_number(index: re.Match[str]) -> str:
    """Return the index of a device, which some releases of torch print as the character with that number."""
    return index[0] if index[0].isprintable() else str(ord(index[0]))


def _refusal(text: str) -> tuple[str, str]:
    """Return the entry that refused, and its clause."""
    refusal = _REFUSAL.match(text.strip())
    return (refusal["entry"], refusal["clause"]) if refusal else ("?", text)


@functools.lru_cache(maxsize=MOST_TEXTS)
def _form(clause: str) -> str:
    """Return a clause without the values in it."""
    return _clause(_DIFFERS.sub("…", clause.partition("\n")[0]))


@functools.lru_cache(maxsize=MOST_TEXTS)
def _entry_order(entry: str) -> tuple[int, ...]:
    return tuple(int(number) for number in entry.split("/") if number.isdigit())


@functools.lru_cache(maxsize=64)
def _failed(entry: str, clauses: tuple[str, ...]) -> FailedEntry:
    """Return a failed entry, with torch's clauses in one line each, and parsed."""
    failures = [_failure(clause) for clause in clauses]
    return FailedEntry(entry, tuple(text for text, _ in failures), tuple(failure for _, failure in failures))


@functools.lru_cache(maxsize=64)
def _failure(clause: str) -> tuple[str, GuardFailure]:
    """Return a failed clause in one line, and parsed. Cached, because the records of later compiles repeat it."""
    code, line = _parts(clause)
    return reproducible(_clause(clause)), guard_failure(reproducible_code(code), line)


def _clause(text: str) -> str:
    """Return a failed clause in one line, with the user's line."""
    clause, line = _parts(text)
    return clause if line is None else f"{clause}  (:{line.line} {line.text})"


def _parts(text: str) -> tuple[str, UserLine | None]:
    """Return a failed clause, and the user's line that torch names after it. A stack may follow below."""
    first = text.strip().split("\n", 1)[0]
    clause, comment = without_comment(first)
    place = _PLACE_OF_CLAUSE.search(comment)
    if place is None:
        return clause, None
    source = comment[: place.start()].strip().removesuffix("#").strip()
    return clause, UserLine(place["file"], int(place["line"]), source, place["function"])
