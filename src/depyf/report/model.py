"""What a run was: every function that torch compiled, every compile, and what came of it.

Plain data. It holds text, numbers and names, never a tensor, a module, a frame or a code object, so keeping
a `Session` keeps nothing of the user's program alive. `depyf.torch` fills it, the views of `depyf.report` read it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias

from depyf.report.cuda_graphs import CudaGraph
from depyf.report.given_names import Wrapper
from depyf.report.lines_read import LinesRead
from depyf.report.running_compile import RunningCompile
from depyf.report.trace_file import TraceFile
from depyf.verify.level import Level


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A part of the story that this torch does not tell, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class UserLine:
    """A line of the user's source; `text` is empty where the file cannot be read."""

    filename: str
    line: int
    text: str = ""
    function: str = ""


@dataclass(frozen=True, slots=True, order=True)
class CompileId:
    """Torch's compile id: `frame`/`compile`, e.g. `0/1` for the second compile of the first frame.

    A negative frame is none of torch's: `g0/0` is the first graph that was compiled alone, with no call behind it.
    `autograd` is the compiled-autograd part, -1 where there is none. Torch counts from 0 again when Dynamo is reset:
    what it counts for the second time is shown as `0/1#2`, and `count` says which time it is.
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
        """Return the frame in words: its number, or that of a graph alone."""
        return str(self.frame) if self.frame >= 0 else f"g{-1 - self.frame}"

    @property
    def of_torch(self) -> CompileId:
        """Return the id as torch has it, which another compile may have had before a reset."""
        return CompileId(self.frame, self.compile, self.autograd)


@dataclass(frozen=True, slots=True)
class FirstCall:
    """The function was called for the first time, or again after compile `failed`, as those before it."""

    failed: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An entry that did not serve the call, and the clauses of its guards that failed.

    `clauses` are those that torch names, in its words: it stops at the first, and before 2.6 names none. `explained`
    are all that failed, each with what was expected and what the call had; empty where the guards of the entry are not
    known.
    """

    entry: str
    clauses: tuple[str, ...]
    explained: tuple[str, ...] = ()


MOST_REFUSALS = 8
"""Refusals of one call that are told one by one, those of the newest entries: torch's usual limit of entries."""


@dataclass(frozen=True, slots=True)
class OtherRefusals:
    """The refusals of one call that are not told one by one: how many, of which entries, and what they have in common.

    `forms` are the clauses that failed, in torch's words, with `…` for the numbers and strings that differ.
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
    """What the guards of a compile and of an earlier `entry` of the same function ask for differently."""

    entry: str
    respects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recompile:
    """Every entry that was there refused the call. The newest entries are told one by one, `others` together."""

    refusals: tuple[Refusal, ...]
    others: OtherRefusals | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """A compile of the caller broke here, and the rest of the function is compiled on its own.

    `caller` is the compile whose code calls this resume function; `offset` the bytecode offset in the original
    function at which it goes on.
    """

    caller: CompileId
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class NoCall:
    """No call is behind it: `how` says what the program asked for, e.g. `compiled ahead of its calls`."""

    how: str


Trigger: TypeAlias = FirstCall | NoCall | Recompile | Resume


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """A place where Dynamo ended a graph.

    `code` is torch's number of the kind of break (`GB0170`), or empty; `where` the innermost line of the user's, and
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


HINT = "Hint:"
EXPLANATION = "Explanation:"


@dataclass(frozen=True, slots=True)
class SideEffect:
    """An object that compiled code changes: torch's expression for it, and the user's lines that change it."""

    source: str
    lines: tuple[UserLine, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why Dynamo gave a frame up: the exception's type and message, and the part of the compiler that raised it.

    `raised`: whether the program got it, as with `fullgraph=True`, or ran eager; None where nothing tells: in a trace.
    """

    kind: str
    reason: str
    where: UserLine | None
    phase: str = ""
    raised: bool | None = None

    @property
    def summary(self) -> str:
        """Return what happened, in one line."""
        return self.reason.partition("\n")[0]

    @property
    def hints(self) -> list[str]:
        """Return what torch's registry of graph breaks says that one can do about it, which is in the message."""
        return self._told(HINT)

    @property
    def explanations(self) -> list[str]:
        """Return what torch says of it, and of the other graph breaks that it met on the way out."""
        return self._told(EXPLANATION)

    def _told(self, what: str) -> list[str]:
        lines = (line.strip() for line in self.reason.splitlines())
        return [line.removeprefix(what).strip() for line in lines if line.startswith(what)]


class Dialect(Enum):
    """What the text of an artefact is."""

    GRAPH = "graph"
    KERNEL = "kernel"
    PYTHON = "python"
    CPP = "c++"
    TEXT = "text"
    JSON = "json"


@dataclass(slots=True)
class Artefact:
    """One thing a stage of the compiler wrote: a graph, Inductor's module, a generated wrapper, or anything else.

    `stage` is the word in the file name; `part` is `forward`, `backward` or `inference` where torch says so; `number`
    counts the artefacts of that stage of one graph; `origin` is the file torch wrote it to, where there is one; `file`
    the name in the dump, relative to its directory. `text` is dropped at the end of the context. `wrappers` are the
    functions in it that were found among those that run.
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
    """A look into one of torch's caches: `fx_graph`, `aotautograd`, `pgo`; of kernels `cpp`, `triton`, `autotune`.

    `outcome` is `hit`, `miss` or `bypass`. `reason` says why a cache was bypassed; `seconds_saved` what a hit saved.
    `artefact` is torch's record of it, with the components of the key, which `depyf.report.caches.key` reads.
    """

    cache: str
    outcome: str
    key: str
    reason: str
    seconds_saved: float
    artefact: Artefact


@dataclass(frozen=True, slots=True)
class ShapeFact:
    """What torch decided about a symbolic shape: `kind` is torch's record (`guard_added`), `detail` the result.

    `where` is the innermost line of the user's that led to it.
    """

    kind: str
    expression: str
    detail: str
    where: UserLine | None


@dataclass(slots=True)
class Guard:
    """One condition of an entry. A model has thousands; nobody changes one.

    `kind` is torch's name of the guard (`TENSOR_MATCH`), `source` the value it looks at (`L['a']`), `text` torch's
    own words, `clause` a Python expression over `L` and `G` with the same verdict, and `where` the line that needs it.
    """

    kind: str
    source: str
    text: str
    clause: str
    where: UserLine | None = None


@dataclass(frozen=True, slots=True)
class GuardSet:
    """All conditions of one entry, in the order in which torch asks them.

    `differs` says where their verdict was seen to differ from torch's own on the values they were captured with, and
    is empty otherwise. The text of the executable guard is in the full code of the function.
    """

    guards: tuple[Guard, ...]
    differs: str = ""


@dataclass(slots=True)
class Transformed:
    """The code that runs in place of the user's: Dynamo's bytecode and its source.

    `source` is the function alone, `module` a text that stands alone in a file. `installed` tells whether the code
    compiled from `file` runs; otherwise Dynamo's own does, and `reason` says why, if it was to run.
    """

    instructions: int
    source: str
    module: str
    level: Level
    reason: str
    installed: bool
    names: dict[str, str] = field(default_factory=dict)
    """What names with a random part in them, as the dump shows them, are called in the process."""
    placeholders: tuple[str, ...] = ()
    file: str = ""
    original_bytecode: str = ""
    transformed_bytecode: str = ""
    recompiled_bytecode: str = ""
    lines_of_bytecode: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """Of each code object in `transformed_bytecode`, in order: the place of an instruction in the listing, and
    the lines of `file` that it stands for, where the proof tells."""

    @property
    def is_runnable(self) -> bool:
        """Whether the code of `file` may run in the place of Dynamo's: it does, or `debug` can have it so."""
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
    """Names of the graphs that the code calls, without the random part: `__compiled_fn_1`."""
    resumes: tuple[str, ...] = ()
    """Names of the resume functions that the code calls: `__resume_at_102_2`."""
    artefacts: list[Artefact] = field(default_factory=list)
    guards: GuardSet | Unavailable = field(default_factory=lambda: Unavailable("no entry was seen"))
    guard_count: int | None = None
    breaks: list[GraphBreak] = field(default_factory=list)
    caches: list[CacheEvent] = field(default_factory=list)
    cuda_graphs: list[CudaGraph] = field(default_factory=list)
    shapes: list[ShapeFact] = field(default_factory=list)
    metrics: dict[str, object] = field(default_factory=dict)
    """All that torch measured, by its names; of a run that was read from a trace."""
    effects: list[SideEffect] = field(default_factory=list)
    """What the code changes beside what it returns, each once; torch before 2.12 does not tell."""
    op_count: int | None = None
    hits: int | None = None
    """Calls that the entry has served in the context, the first included; None where this torch does not say."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Seconds per phase: `total`, `dynamo`, `backend`, `inductor`, `code generation`, `backward`."""
    began: float | None = None
    """Seconds from the beginning of the session to that of this compile."""
    failure: Failure | None = None
    phase: str = ""
    """The part of the compiler that it is in, empty once it has ended."""
    phase_began: float | None = None
    lines: tuple[LinesRead, ...] = ()
    """What became of the lines that Dynamo read; empty where the run does not tell, as in a trace."""
    gone: str = ""
    """Why the entry serves no more calls at the end of the context; empty while it does, or where none was made."""
    contrast: EntryContrast | None = None
    """Against the entry of the function that was made before this one."""
    order: int = 0
    """Rises from compile to compile, in the order in which they began."""
    number: int = 0
    """Counts the compiles of functions of one name, from 0: `<n>` of `__transformed_code_<n>_for_<fn>.py`."""


@dataclass(slots=True)
class Function:
    """A code object that torch compiled, once or more: a function of the user's, or a resume function of one.

    `key` is unique in a session. `source` is the user's text from `first_line` on, empty where it cannot be read; for
    a resume function it is the text of the function that it resumes, and `resumes_at` the line to go on from.
    """

    key: str
    name: str
    filename: str
    first_line: int
    source: str
    root: str
    resumes_at: int | None = None
    resume_name: str = ""
    """The global name that the caller's code uses for it: `__resume_at_102_2`."""
    other_resume_names: list[str] = field(default_factory=list)
    """The names by which the code of other compiles knows it."""
    break_line: int | None = None
    parameters: tuple[str, ...] = ()
    qualname: str = ""
    """Its name with that of its class, where the running process tells; of a resume function that of the resumed."""
    compiles: list[Compile] = field(default_factory=list)
    number: int = 0
    """Counts the root functions of one name, from 0: `<n>` of `full_code_for_<fn>_<n>.py`."""
    file: str = ""
    eager_calls: int | None = None
    """Calls that ran the user's code after Dynamo had given a compile up; None where they are not counted."""

    @property
    def is_resume(self) -> bool:
        """Return whether this is a resume function."""
        return self.resumes_at is not None


@dataclass(slots=True)
class Problem:
    """Something that went wrong inside depyf: where, what, and the traceback."""

    where: str
    message: str
    details: str = ""


class SessionView(Protocol):
    """What shows a session."""

    def text(self, session: Session) -> str:
        """Return what a terminal shows of it."""

    def bundle(self, session: Session) -> dict[str, str]:
        """Return what a notebook shows of it, by the type of the text."""


@dataclass(slots=True, repr=False)
class Session:
    """Everything that one `prepare_debug` context saw, in order.

    A notebook shows it as its report, once the context has ended; a terminal as the summary of the run.
    """

    torch_version: str
    python_version: str
    functions: dict[str, Function] = field(default_factory=dict)
    loose: list[Artefact] = field(default_factory=list)
    """Artefacts of no compile, e.g. of a `compile_fx` that no Dynamo frame called."""
    shapes: list[ShapeFact] = field(default_factory=list)
    """Decisions about symbolic shapes in no compile: of an export."""
    trace: TraceFile | None = None
    """Where the run was read from; None for one that was captured as it ran."""
    earlier: dict[tuple[str, str, int], int] = field(default_factory=dict)
    """Calls served by code that was compiled before the context was entered, by the code's name, file and line."""
    skipped: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """Frames that Dynamo left as they are, by the code's name and file, and the reason; how often it was said."""
    installed: set[str] = field(default_factory=set)
    """Of an index that was read: which of their files are of installed packages or of Python's library."""
    sources: dict[str, str] = field(default_factory=dict)
    """The user's files that compiled code comes from, by the name torch gives them, and their copies in the dump."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Seams that this torch does not have, each with its reason."""
    problems: list[Problem] = field(default_factory=list)
    entered: float = field(default_factory=time.monotonic)
    """When the session began, by the monotonic clock of its process, in seconds."""
    now: tuple[RunningCompile, ...] = ()
    """Of a run that was read while it went on, or that was killed: the compiles that had not ended."""
    ended: bool = False
    """Whether a context has ended, so that all is told; an index written before is that of a run that goes on."""
    beside: str = ""
    """The page about other processes that write into the same directory, by the way to it; empty where none do."""
    directory: str = ""
    """Where the files of the run are, empty for a run that was read back."""
    view: SessionView | None = field(default=None, repr=False, compare=False)
    """How the session shows itself, in a terminal and in a notebook."""

    def __repr__(self) -> str:
        if self.view is None:
            return f"<Session: torch {self.torch_version}, {len(self.functions)} functions>"
        return self.view.text(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self)} if self.view is None else self.view.bundle(self)

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")

    def roots(self) -> list[Function]:
        """Return the functions that are no resume functions, in order of their first compile."""
        return [function for function in self.functions.values() if not function.is_resume]

    def resumes_of(self, root: Function) -> list[Function]:
        """Return the resume functions of `root`, in order of their first compile."""
        return [function for function in self.functions.values() if function.is_resume and function.root == root.key]

    def compiles(self) -> Iterator[tuple[Function, Compile]]:
        """Yield every compile with its function, in the order in which they began."""
        pairs = [(function, each) for function in self.functions.values() for each in function.compiles]
        return iter(sorted(pairs, key=lambda pair: pair[1].order))
