"""The parts of a compile: its id, its trigger, its graph breaks, artifacts, guards and code, as plain data."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

from depyf.bytecode.records import dataclass
from depyf.model.codec import (
    FLAG,
    INTEGER,
    NATURAL,
    NUMBER,
    TEXT,
    Form,
    Json,
    Record,
    Row,
    by_name,
    by_value,
    choice,
    either,
    named,
    nullable,
    one_line,
    several,
    tagged,
)
from depyf.model.compile_id import ID, ID_TEXT, CompileId
from depyf.model.given_names import Wrapper
from depyf.model.guard_failure import GUARD_FAILURE, GuardFailure
from depyf.model.line_row import LINE, LINES
from depyf.model.user_line import UserLine
from depyf.verify.level import Level


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A part of the model that this torch does not provide, and the reason."""

    reason: str


UNAVAILABLE_ROWS = Record(Unavailable, Row("unavailable", TEXT, "reason"))


@dataclass(frozen=True, slots=True)
class FirstCall:
    """The first call of the function, or the first after the compile `failed`."""

    failed: str = ""


@dataclass(frozen=True, slots=True)
class FailedEntry:
    """An entry that could not serve the call, and its guards that failed.

    clauses: the guards that torch names, in its words. torch stops at the first one, and before 2.6 names none.
    failures: the guards that failed, each with the expected and the actual value.
    is_complete: whether `failures` has all guards that failed, and not only those that torch names.
    """

    entry: str
    clauses: tuple[str, ...] = ()
    failures: tuple[GuardFailure, ...] = ()
    is_complete: bool = False


MOST_ENTRIES = 8
"""The most failed entries of one call that are listed one by one, newest first: torch's default limit of entries."""


@dataclass(frozen=True, slots=True)
class OtherEntries:
    """The failed entries of one call that are not listed one by one: their number, and the common forms of guards.

    forms: the guards that failed, in torch's words, with `…` for the numbers and strings that differ.
    """

    count: int
    first: str
    last: str
    forms: tuple[str, ...] = ()

    def __str__(self) -> str:
        forms = f": {', '.join(self.forms)}" if self.forms else ""
        return f"{self.count} older entries, {self.first} to {self.last}, refused as well{forms}"


@dataclass(frozen=True, slots=True)
class EntryContrast:
    """The differences between the guards of a compile and those of an earlier `entry` of the same function."""

    entry: str
    respects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recompile:
    """No existing entry could serve the call. The newest entries are listed one by one, the `others` together."""

    entries: tuple[FailedEntry, ...]
    others: OtherEntries | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """A compile of the caller broke here, and the rest of the function is compiled on its own.

    caller: the compile whose code calls this resume function.
    offset: the bytecode offset in the original function at which it continues.
    """

    caller: CompileId
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class NoCall:
    """A compile without a call. `how` says what the program asked for, for example `compiled ahead of its calls`."""

    how: str


Trigger: TypeAlias = FirstCall | NoCall | Recompile | Resume


FAILED_ENTRY_ROWS = Record(
    FailedEntry,
    Row("entry", TEXT),
    Row("clauses", several(TEXT), about="The guard that failed, in torch's words; torch stops at the first."),
    Row(
        "complete",
        FLAG,
        "is_complete",
        about="Whether `failures` has all guards that failed, and not only those that torch names.",
    ),
    Row("failures", several(one_line(GUARD_FAILURE))),
)
OTHER_ENTRIES_ROWS = Record(
    OtherEntries,
    Row("count", INTEGER),
    Row("first", TEXT),
    Row("last", TEXT),
    Row("forms", several(TEXT)),
)
CONTRAST_ROWS = Record(EntryContrast, Row("entry", ID_TEXT), Row("respects", several(TEXT)))


def _entries_of_schema_1(written: Json) -> tuple[FailedEntry, ...]:
    """Return the failed entries of schema 1, which holds guard failures as sentences."""
    from depyf.model.schema_1 import failure_of_sentence

    entries = []
    for entry in written["refused"]:
        failures = tuple(map(failure_of_sentence, entry["explained"] or entry["clauses"]))
        entries.append(FailedEntry(entry["entry"], tuple(entry["clauses"]), failures, bool(entry["explained"])))
    return tuple(entries)


TRIGGERS: dict[str, Record] = {
    "first call": Record(
        FirstCall, Row("failed", TEXT, about="The previous compile, if it failed.", default="", is_left_out=True)
    ),
    "recompile": Record(
        Recompile,
        Row(
            "entries",
            several(FAILED_ENTRY_ROWS.form),
            about="The newest entries that could not serve the call, and their guards that failed.",
            older=_entries_of_schema_1,
        ),
        Row(
            "others",
            nullable(OTHER_ENTRIES_ROWS.form),
            about="The older failed entries together: their number, the entries, and the guards that failed in torch's "
            "words, with `…` for what differs. Null if every failed entry is in `entries`.",
            default=None,
        ),
    ),
    "no call": Record(
        NoCall, Row("how", TEXT, about="The request of the program, for example `compiled ahead of its calls`.")
    ),
    "resume": Record(Resume, Row("caller", ID), Row("offset", nullable(INTEGER))),
}
"""The kinds of triggers by their names in the index."""
TRIGGER = tagged("kind", TRIGGERS)
TRIGGER_WORDS: dict[type[Trigger], str] = {record.made: word for word, record in TRIGGERS.items()}  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """A place where Dynamo ended a graph.

    `code` is torch's number for the kind of break (`GB0170`), or "". `where` is the innermost line of the user's, and
    `stack` the calls that lead to it, outermost first.
    """

    reason: str
    explanation: str
    hints: tuple[str, ...]
    code: str
    where: UserLine | None
    stack: tuple[UserLine, ...]
    attempt: int
    text: str
    called: UserLine | None = None
    """The definition of the called function that `torch.compiler.disable` leaves out; None for any other break."""


BREAK_ROWS = Record(
    partial(GraphBreak, attempt=0, text=""),
    Row("reason", TEXT),
    Row("explanation", TEXT),
    Row("hints", several(TEXT)),
    Row("code", TEXT),
    Row("where", LINE),
    Row("stack", LINES),
    Row(
        "called",
        LINE,
        about="The definition of the called function that torch.compiler.disable leaves out; absent for any other "
        "break.",
        default=None,
        is_left_out=True,
    ),
)


SIDE_EFFECTS = "the user's lines of side effects"
"""The name of what a torch before 2.12 does not report, in the list of a run."""


@dataclass(frozen=True, slots=True)
class SideEffect:
    """An object that compiled code changes: torch's expression for it, and the user's lines that change it."""

    source: str
    lines: tuple[UserLine, ...]


EFFECT_ROWS = Record(SideEffect, Row("source", TEXT), Row("lines", LINES))


class Dialect(Enum):
    """The language of an artefact's text."""

    GRAPH = "graph"
    KERNEL = "kernel"
    PYTHON = "python"
    CPP = "c++"
    TEXT = "text"
    JSON = "json"


@dataclass(slots=True)
class Artefact:
    """One output of a stage of the compiler: a graph, Inductor's module, a generated wrapper, or anything else.

    `stage` is the word in the file name. `part` is `forward`, `backward` or `inference`, if torch says so. `number` is
    the position among the artefacts of that stage of one graph. `origin` is the file that torch wrote it to, `file` the
    path in the dump. `text` is dropped at the end of the context. `wrappers` are the functions in it that were found
    among the running ones.
    """

    stage: str
    dialect: Dialect
    text: str
    part: str = ""
    number: int = 0
    attempt: int = 0
    origin: str = ""
    file: str = ""
    wrappers: tuple[Wrapper, ...] = ()


ARTEFACT_ROWS = Record(
    partial(Artefact, text=""),
    Row("stage", TEXT),
    Row("kind", by_value(Dialect), "dialect"),
    Row("part", TEXT, about="`forward`, `backward` or `inference` if torch says so, else empty.", default=""),
    Row("attempt", NATURAL, default=0),
    Row("file", TEXT),
)
ARTEFACT = named("artefact", ARTEFACT_ROWS.form)


@dataclass(slots=True)
class CacheEvent:
    """A lookup in one of torch's caches: `fx_graph`, `aotautograd`, `pgo`; for kernels `cpp`, `triton`, `autotune`.

    `outcome` is `hit`, `miss` or `bypass`, `reason` why a cache was bypassed, and `seconds_saved` the time that a hit
    saved. `artefact` is torch's record with the components of the key, which `depyf.findings.cache_misses.key` reads.
    """

    cache: str
    outcome: str
    key: str
    reason: str
    seconds_saved: float
    artefact: Artefact


def _cache_event(*, file: str, **fields: Any) -> CacheEvent:  # noqa: ANN401 - the fields of the class
    stage = f"{fields['cache']}_cache_{fields['outcome']}"
    return CacheEvent(**fields, artefact=Artefact(stage, Dialect.JSON, "", file=file))


CACHE_ROWS = Record(
    _cache_event,
    Row("cache", choice("fx_graph", "aotautograd", "pgo", "cpp", "triton", "autotune")),
    Row("outcome", choice("hit", "miss", "bypass")),
    Row("key", TEXT),
    Row("reason", TEXT, about="Why the cache was bypassed."),
    Row("seconds_saved", NUMBER),
    Row("file", TEXT, "artefact.file", about="Torch's record, with the components of the key.", argument="file"),
    about="A lookup in one of torch's caches.",
)
CACHE = named("cache", CACHE_ROWS.form)


@dataclass(frozen=True, slots=True)
class ShapeFact:
    """A decision of torch about a symbolic shape: `kind` is torch's record (`guard_added`), `detail` the result.

    where: the innermost line of the user's that led to it.
    """

    kind: str
    expression: str
    detail: str
    where: UserLine | None


SHAPE_ROWS = Record(
    ShapeFact,
    Row("kind", TEXT, about="Torch's name of the record."),
    Row("expression", TEXT),
    Row("detail", TEXT),
    Row("where", LINE),
    about="A decision of torch about a symbolic shape.",
)
SHAPE = named("shape", SHAPE_ROWS.form)


@dataclass(slots=True)
class Guard:
    """One condition of an entry. A model has thousands of them; they are never changed.

    `kind` is torch's name of the guard (`TENSOR_MATCH`), `source` the value that it checks (`L['a']`), and `text`
    torch's own text. `clause` is a Python expression over `L` and `G` with the same verdict, and `where` the line that
    needs the guard.
    """

    kind: str
    source: str
    text: str
    clause: str
    where: UserLine | None = None


@dataclass(frozen=True, slots=True)
class GuardSet:
    """All conditions of one entry, in the order in which torch checks them.

    differs: where their verdict differed from torch's on the values with which they were captured; normally empty.
    """

    guards: tuple[Guard, ...]
    differs: str = ""


GUARD_ROWS = Record(
    partial(Guard, text=""),
    Row("kind", TEXT),
    Row("source", TEXT),
    Row("clause", TEXT),
    Row("where", LINE),
)


@dataclass(frozen=True, slots=True)
class GuardLines:
    """The guards of a compile, a line each. A model has thousands: their JSON is put together from its strings.

    The text of a user's line is written once, with the first of the guards that the line needs.
    """

    guards: tuple[Guard, ...]

    @property
    def content(self) -> list[Json]:
        """The guards as data."""
        seen: set[UserLine] = set()
        rows = [GUARD_ROWS.write(guard) for guard in self.guards]
        for guard, row in zip(self.guards, rows, strict=True):
            if guard.where in seen:
                row["where"]["text"] = ""
            elif guard.where is not None:
                seen.add(guard.where)
        return rows


def _guards_of(written: list[Json]) -> GuardSet:
    texts: dict[tuple[str, int, str], str] = {}
    guards = []
    for guard in written:
        where = guard["where"]
        if where is not None:
            place = where["file"], where["line"], where["function"]
            texts[place] = text = where["text"] or texts.get(place, "")
            guard = {**guard, "where": {**where, "text": text}}
        guards.append(GUARD_ROWS.read(guard))
    return GuardSet(tuple(guards))


GUARDS = either(
    UNAVAILABLE_ROWS,
    Form({"type": "array", "items": GUARD_ROWS.schema()}, lambda of: GuardLines(of.guards), _guards_of),
)


@dataclass(slots=True)
class Transformed:
    """The code that replaces the user's code: Dynamo's bytecode and its source.

    `source` is the function alone, `module` a text that stands alone in a file. `installed` is whether the code
    compiled from `file` runs. Otherwise Dynamo's own runs, and `reason` says why, if `file` should have run.
    """

    instructions: int
    source: str
    module: str
    level: Level
    reason: str
    installed: bool
    names: dict[str, str] = field(default_factory=dict)
    """The name in the process of each name with a random part, by its name in the dump."""
    placeholders: tuple[str, ...] = ()
    file: str = ""
    original_bytecode: str = ""
    transformed_bytecode: str = ""
    recompiled_bytecode: str = ""
    lines_of_bytecode: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """For each code object in `transformed_bytecode`, in order: the place of each instruction in the listing, and the
    lines of `file` that it is linked to, as far as the proof knows."""

    @property
    def is_runnable(self) -> bool:
        """Whether the code of `file` may run in place of Dynamo's: it does already, or `debug` can arrange it."""
        return self.level is not Level.UNPROVEN and (self.installed or not self.reason)


_INTEGERS = several(INTEGER)
TRANSFORMED_ROWS = Record(
    partial(Transformed, source="", module=""),
    Row("file", TEXT),
    Row("level", by_name(Level)),
    Row("reason", TEXT),
    Row("installed", FLAG, about="True if the code of the file runs, false if Dynamo's own code runs."),
    Row("instructions", INTEGER),
    Row(
        "lines_of_bytecode",
        several(one_line(several(_INTEGERS))),
        about="For each code object in the listing of Dynamo's bytecode, in order: the index of an instruction, from 0 "
        "on, and the lines of the file that it is linked to, as far as the proof knows. Empty without a listing.",
        default=(),
    ),
    changes=True,
)
TRANSFORMED = either(UNAVAILABLE_ROWS, TRANSFORMED_ROWS.form)


@dataclass(slots=True)
class Problem:
    """An error inside depyf: where, what, and the traceback."""

    where: str
    message: str
    details: str = ""


PROBLEM_ROWS = Record(Problem, Row("where", TEXT), Row("message", TEXT))
TRIED_ROWS = Record(
    lambda kind, where, words: ((kind, where), words),
    Row("kind", TEXT, lambda pair: pair[0][0], about="The kind of the finding.", argument="kind"),
    Row("where", TEXT, lambda pair: pair[0][1], about="The place of the finding.", argument="where"),
    Row("words", TEXT, lambda pair: pair[1], about="The result of the edits that were tried.", argument="words"),
)
"""A row of `Session.tried`."""
