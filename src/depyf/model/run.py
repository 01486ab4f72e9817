"""The model of a run: every function that torch compiled, every compile, and its results.

The model is plain data: text, numbers and names, never a tensor, a module, a frame or a code object. So keeping a
`Session` keeps nothing of the user's program alive. `depyf.torch` fills it; `depyf.views` read it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias

from depyf.bytecode.records import dataclass
from depyf.model.bypass import Bypass
from depyf.model.cuda_graphs import CudaGraph
from depyf.model.failure import CallFailure, Failure
from depyf.model.given_names import Wrapper
from depyf.model.guard_failure import GuardFailure
from depyf.model.lines_read import LinesRead
from depyf.model.running_compile import RunningCompile
from depyf.model.trace_file import TraceFile
from depyf.model.user_line import UserLine
from depyf.verify.level import Level

if TYPE_CHECKING:
    from depyf.model.repeats import Repeat


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


@dataclass(slots=True)
class Compile:
    """One compile of one code object by Dynamo."""

    id: CompileId
    name: str
    filename: str
    first_line: int
    trigger: Trigger = field(default_factory=FirstCall)
    user_stack: tuple[UserLine, ...] = ()
    attempts: int = 1
    transformed: Transformed | Unavailable = field(default_factory=lambda: Unavailable("Dynamo made no code"))
    compiled_fns: tuple[str, ...] = ()
    """Names of the graphs that the code calls, without the random part, such as `__compiled_fn_1`."""
    resumes: tuple[str, ...] = ()
    """Names of the resume functions that the code calls, such as `__resume_at_102_2`."""
    artefacts: list[Artefact] = field(default_factory=list)
    guards: GuardSet | Unavailable = field(default_factory=lambda: Unavailable("no entry was found"))
    guard_count: int | None = None
    breaks: list[GraphBreak] = field(default_factory=list)
    caches: list[CacheEvent] = field(default_factory=list)
    cuda_graphs: list[CudaGraph] = field(default_factory=list)
    shapes: list[ShapeFact] = field(default_factory=list)
    metrics: dict[str, object] = field(default_factory=dict)
    """All of torch's metrics by name, for a run that was read from a trace."""
    effects: list[SideEffect] = field(default_factory=list)
    """The side effects of the code, each once; unknown before torch 2.12."""
    op_count: int | None = None
    hits: int | None = None
    """The calls that the entry served in the context, including the first; None if this torch does not count them."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Seconds per phase, by its name (`total`, `dynamo`, `backend`, `inductor`, `code generation`, `backward`)."""
    began: float | None = None
    """Seconds from the start of the session to the start of this compile."""
    failure: Failure | None = None
    call_failures: list[CallFailure] = field(default_factory=list)
    """The exceptions that the code of the backend raised in calls, each once."""
    phase: str = ""
    """The current phase of the compiler; "" after the end of the compile."""
    phase_began: float | None = None
    lines: tuple[LinesRead, ...] = ()
    """The lines that Dynamo read; empty if unknown, as in a trace."""
    repeats: tuple[Repeat, ...] = ()
    gone: str = ""
    """Why the entry no longer exists at the end of the context; "" if it does, or if there was none."""
    contrast: EntryContrast | None = None
    """The difference from the previous entry of the function."""
    backend: str = ""
    """The name of the backend, as the user writes it; "" if it is not known."""
    order: int = 0
    """Increases from compile to compile, in the order in which they began."""
    number: int = 0
    """Counts the compiles of functions of one name from 0, for `<n>` of `__transformed_code_<n>_for_<fn>.py`."""


@dataclass(slots=True)
class Function:
    """A code object that torch compiled, once or more: a function of the user's, or a resume function of one.

    `key` is unique in a session. `source` is the user's text from `first_line` on, or "" if it cannot be read. For a
    resume function, it is the text of the function that it resumes, and `resumes_at` is the line at which it continues.
    """

    key: str
    name: str
    filename: str
    first_line: int
    source: str
    root: str
    resumes_at: int | None = None
    resume_name: str = ""
    """The global name that the caller's code uses for it, such as `__resume_at_102_2`."""
    other_resume_names: list[str] = field(default_factory=list)
    """The names by which the code of other compiles calls it."""
    break_line: int | None = None
    parameters: tuple[str, ...] = ()
    qualname: str = ""
    """Its name with its class, if the running process knows it; for a resume function, that of the resumed function."""
    compiles: list[Compile] = field(default_factory=list)
    number: int = 0
    """Counts the root functions of one name from 0, for `<n>` of `full_code_for_<fn>_<n>.py`."""
    file: str = ""
    eager_calls: int | None = None
    """The calls that ran the user's code after Dynamo had given a compile up; None if they are not counted."""

    @property
    def is_resume(self) -> bool:
        """Return whether this is a resume function."""
        return self.resumes_at is not None


@dataclass(slots=True)
class Problem:
    """An error inside depyf: where, what, and the traceback."""

    where: str
    message: str
    details: str = ""


class SessionView(Protocol):
    """A display of a session."""

    def text(self, session: Session) -> str:
        """Return the text for a terminal."""

    def bundle(self, session: Session) -> dict[str, str]:
        """Return the content for a notebook, by MIME type."""


@dataclass(slots=True, repr=False)
class Session:
    """Everything that one `prepare_debug` context recorded, in order.

    After the context has ended, a notebook shows the session as its report, and a terminal as the summary of the run.
    """

    torch_version: str
    python_version: str
    functions: dict[str, Function] = field(default_factory=dict)
    loose: list[Artefact] = field(default_factory=list)
    """Artefacts that belong to no compile, for example of a `compile_fx` that no Dynamo frame called."""
    shapes: list[ShapeFact] = field(default_factory=list)
    """Decisions about symbolic shapes outside a compile, in an export."""
    trace: TraceFile | None = None
    """The trace from which the run was read, or None if it was captured."""
    earlier: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """Calls served by code that was compiled before the context, by the code's name, file and line."""
    skipped: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """The number of times Dynamo skipped each frame, by the code's name and file and the reason."""
    bypassed: dict[Bypass, int] = field(default_factory=dict)
    """Calls and hooks that compiled code did not serve, with the number of times."""
    installed: set[str] = field(default_factory=set)
    """The files of an index that was read, if they belong to installed packages or to Python's library."""
    sources: dict[str, str] = field(default_factory=dict)
    """The user's files that contain compiled code, by torch's name for each, with their copies in the dump."""
    packed: set[str] = field(default_factory=set)
    """The files of the dump that are in its archive."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Seams that this torch does not have, each with the reason."""
    problems: list[Problem] = field(default_factory=list)
    entered: float = field(default_factory=time.monotonic)
    """When the session began, in seconds of the process's monotonic clock."""
    now: tuple[RunningCompile, ...] = ()
    """The unfinished compiles of a run that was read while it was running, or that was killed."""
    ended: bool = False
    """Whether the context has ended. An index that was written earlier belongs to an unfinished run."""
    beside: str = ""
    """The path of the page about other processes that write to the same directory; "" if there are none."""
    directory: str = ""
    """The directory with the files of the run; "" for a run that was read back."""
    view: SessionView | None = field(default=None, repr=False, compare=False)
    """The display of the session in a terminal and in a notebook."""

    def __repr__(self) -> str:
        own = f"<Session: torch {self.torch_version}, {len(self.functions)} functions>"
        return own if self.view is None else self.view.text(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self)} if self.view is None else self.view.bundle(self)

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")

    def roots(self) -> list[Function]:
        """Return the functions that are not resume functions, in the order of their first compiles."""
        return [function for function in self.functions.values() if not function.is_resume]

    def resumes_of(self, root: Function) -> list[Function]:
        """Return the resume functions of `root`, in the order of their first compiles."""
        return [function for function in self.functions.values() if function.is_resume and function.root == root.key]

    def compiles(self) -> Iterator[tuple[Function, Compile]]:
        """Yield every compile with its function, in the order in which they began."""
        pairs = [(function, each) for function in self.functions.values() for each in function.compiles]
        return iter(sorted(pairs, key=lambda pair: pair[1].order))
