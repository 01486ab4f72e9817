"""The parts of a compile: its id, its trigger, its graph breaks, artifacts, guards and code, as plain data."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TypeAlias

from depyf.bytecode.records import dataclass
from depyf.model.given_names import Wrapper
from depyf.model.guard_failure import GuardFailure
from depyf.model.user_line import UserLine
from depyf.verify.level import Level


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A part of the model that this torch does not provide, and the reason."""

    reason: str


@dataclass(frozen=True, slots=True, order=True)
class CompileId:
    """torch's compile id: `frame`/`compile`, for example `0/1` for the second compile of the first frame.

    A negative frame is depyf's own: `g0/0` is the first graph that was compiled without a frame. `autograd` is the
    compiled-autograd part, or -1. After a reset of Dynamo, torch counts from 0 again. An id that torch uses for the
    second time is shown as `0/1#2`; `count` is the number of times.
    """

    frame: int
    compile: int
    autograd: int = -1
    count: int = 1

    def __str__(self) -> str:
        own = f"{self.frame_word}/{self.compile}" + (f"#{self.count}" if self.count > 1 else "")
        return own if self.autograd < 0 else f"!{self.autograd}/{own}"

    @property
    def frame_word(self) -> str:
        """Return the frame as text: its number, or the number of a graph without a frame."""
        return str(self.frame) if self.frame >= 0 else f"g{-1 - self.frame}"

    @property
    def of_torch(self) -> CompileId:
        """Return torch's own id, which another compile may have had before a reset."""
        return CompileId(self.frame, self.compile, self.autograd)


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


@dataclass(frozen=True, slots=True)
class SideEffect:
    """An object that compiled code changes: torch's expression for it, and the user's lines that change it."""

    source: str
    lines: tuple[UserLine, ...]


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


@dataclass(frozen=True, slots=True)
class ShapeFact:
    """A decision of torch about a symbolic shape: `kind` is torch's record (`guard_added`), `detail` the result.

    where: the innermost line of the user's that led to it.
    """

    kind: str
    expression: str
    detail: str
    where: UserLine | None


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
