"""The model of a run: every function that torch compiled, every compile, and its results.

The model is plain data: text, numbers and names, never a tensor, a module, a frame or a code object. So keeping a
`Session` keeps nothing of the user's program alive. `depyf.torch` fills it; `depyf.views` read it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from depyf.bytecode.records import dataclass
from depyf.model.bypass import BYPASSED_ROWS, Bypass
from depyf.model.codec import (
    FLAG,
    INTEGER,
    NATURAL,
    NUMBER,
    OBJECT,
    POSITIVE,
    TEXT,
    Form,
    Log,
    OneLine,
    Record,
    Row,
    empty_as_null,
    growing,
    items_of,
    mapping,
    named,
    nullable,
    one_line,
    several,
)
from depyf.model.compile_id import ID, CompileId
from depyf.model.cuda_graphs import CUDA_GRAPH, CudaGraph
from depyf.model.failure import CALL_FAILURE_ROWS, FAILURE_ROWS, CallFailure, Failure
from depyf.model.line_row import FILE, LINES
from depyf.model.lines_read import LINES_READ_ROWS, LinesRead
from depyf.model.parts import (
    ARTEFACT,
    BREAK_ROWS,
    CACHE,
    CONTRAST_ROWS,
    EFFECT_ROWS,
    GUARDS,
    MOST_ENTRIES,
    PROBLEM_ROWS,
    SHAPE,
    TRANSFORMED,
    TRIED_ROWS,
    TRIGGER,
    Artefact,
    CacheEvent,
    Dialect,
    EntryContrast,
    FailedEntry,
    FirstCall,
    GraphBreak,
    Guard,
    GuardSet,
    NoCall,
    OtherEntries,
    Problem,
    Recompile,
    Resume,
    ShapeFact,
    SideEffect,
    Transformed,
    Trigger,
    Unavailable,
)
from depyf.model.repeats import REPEAT_ROWS, Repeat
from depyf.model.running_compile import RunningCompile
from depyf.model.trace_file import TRACE_ROWS, TraceFile
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_installed

if TYPE_CHECKING:
    from depyf.model.finding import Finding

__all__ = [
    "MOST_ENTRIES", "Artefact", "CacheEvent", "Compile", "CompileId", "Dialect", "EntryContrast", "FailedEntry",
    "FirstCall", "Function", "GraphBreak", "Guard", "GuardSet", "NoCall", "OtherEntries", "Problem", "Recompile",
    "Resume", "Session", "SessionView", "ShapeFact", "SideEffect", "Transformed", "Trigger", "Unavailable",
]  # fmt: skip


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
    drawn: tuple[UserLine, ...] = ()
    is_static: bool = False
    """Whether torch may make no size of a later compile dynamic, because of `dynamic=False` for example."""
    gone: str = ""
    """Why the entry no longer exists at the end of the context; "" if it does, or if there was none."""
    contrast: EntryContrast | None = None
    """The difference from the previous entry of the function."""
    backend: str = ""
    """The name of the backend, as the user writes it; "" if it is not known."""
    order: int = 0
    """Increases from compile to compile, in the order in which they began."""
    call: int | None = None
    """The call of the root function in which it began, counted from 1; None if calls are not counted."""
    number: int = 0
    """Counts the compiles of functions of one name from 0, for `<n>` of `__transformed_code_<n>_for_<fn>.py`."""


COMPILE_ROWS = Record(
    Compile,
    Row("id", ID, log=Log.APART),
    Row("attempts", POSITIVE),
    Row("backend", TEXT, about="The name of the backend, as the user writes it.", default=""),
    Row("trigger", TRIGGER),
    Row("called_from", LINES, "user_stack"),
    Row("transformed", TRANSFORMED),
    Row("graphs_called", several(TEXT), "compiled_fns"),
    Row("resume_functions_called", several(TEXT), "resumes"),
    Row("artefacts", growing(ARTEFACT), log=Log.GROWS, ready=lambda artifact: bool(artifact.file)),
    Row("guards", GUARDS),
    Row("guard_count", nullable(INTEGER)),
    Row("op_count", nullable(INTEGER)),
    Row("hits", nullable(INTEGER), about="Calls that the entry served in the context; null if unknown.", log=Log.APART),
    Row(
        "call",
        nullable(NATURAL),
        about="The call of the function, or of the one that it resumes, in which this compile began; counted from 1.",
        default=None,
        is_left_out=True,
    ),
    Row("breaks", growing(BREAK_ROWS.form), log=Log.GROWS),
    Row(
        "side_effects",
        growing(EFFECT_ROWS.form),
        "effects",
        about="Objects that the code changes, and the user's lines that change them.",
        default=list,
    ),
    Row("caches", growing(one_line(CACHE)), default=list, log=Log.GROWS),
    Row("cuda_graphs", growing(one_line(CUDA_GRAPH)), default=list, log=Log.GROWS),
    Row("shapes", growing(one_line(SHAPE)), default=list, log=Log.GROWS),
    Row(
        "metrics",
        one_line(OBJECT),
        about="All of torch's metrics by name, for a run that was read from a trace.",
        default=dict,
    ),
    Row("failure", nullable(FAILURE_ROWS.form)),
    Row(
        "call_failures",
        growing(CALL_FAILURE_ROWS.form),
        about="The exceptions that the code of the backend raised in calls, each once, with the number of calls.",
        default=list,
    ),
    Row("phase", TEXT, about="The current phase of the compiler; empty after the end of the compile.", default=""),
    Row("phase_began", nullable(NUMBER), default=None),
    Row(
        "lines",
        several(one_line(LINES_READ_ROWS.form)),
        about="The lines that Dynamo read. torch's own functions are left out.",
        default=(),
    ),
    Row(
        "repeats",
        several(one_line(REPEAT_ROWS.form)),
        about="Runs of equal blocks of operations in the graphs. Left out if there are none.",
        default=(),
        is_left_out=True,
    ),
    Row("drawn", LINES, about="Lines whose NumPy random numbers torch draws.", default=(), is_left_out=True),
    Row("static", FLAG, "is_static", about="Torch may make no size dynamic.", default=False, is_left_out=True),
    Row("gone", empty_as_null(TEXT, ""), about="Why the entry no longer exists at the end of the context."),
    Row(
        "contrast",
        nullable(CONTRAST_ROWS.form),
        about="How this entry's guards differ from those of the previous entry.",
    ),
    Row(
        "began",
        nullable(NUMBER),
        about="Seconds from the start of the session to the start of this compile.",
        default=None,
    ),
    Row("seconds", mapping(NUMBER)),
)
COMPILES = {"compiles": {"type": "array", "items": named("compile", COMPILE_ROWS.form).schema}}


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


FUNCTION_ROWS = Record(
    Function,
    Row("name", TEXT),
    Row(
        "qualname",
        TEXT,
        about="The name with its class, if the running process knows it; empty in a trace.",
        default="",
    ),
    Row("file", FILE, "filename"),
    Row("line", INTEGER, "first_line"),
    Row(
        "dump",
        TEXT,
        "file",
        about="full_code_for_*.py; empty if nothing was compiled, and for resume functions.",
    ),
    Row(
        "eager_calls",
        nullable(INTEGER),
        about="Calls that ran eagerly after Dynamo had given a compile up; null if they are not counted.",
        default=None,
    ),
    Row(
        "parameters",
        one_line(several(TEXT)),
        about="The names of its own parameters, if the running process knows them. A guard on another local name "
        "checks a variable of the enclosing function.",
        default=(),
    ),
)
RESUME_ROWS = Record(
    Function,
    *FUNCTION_ROWS.rows,
    Row("broke_at", nullable(INTEGER), "break_line", about="The user's line of the graph break.", default=None),
    Row("resumes_at", nullable(INTEGER), about="The first line that still has to run.", default=None),
    Row("called_as", TEXT, "resume_name", default=""),
)
"""The rows of a resume function."""
RESUME = named("resume", Form(RESUME_ROWS.schema(**COMPILES)))
FUNCTION = named(
    "function", Form(FUNCTION_ROWS.schema(**COMPILES, resume_functions={"type": "array", "items": RESUME.schema}))
)


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
    tried: dict[tuple[str, str], str] = field(default_factory=dict)
    """The result of what `depyf fix` tried for a finding, by the finding's kind and place."""
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
    findings: tuple[Finding, ...] | None = None
    """The findings as the index has them that was written at the end of the run; None before."""
    view: SessionView | None = field(default=None, repr=False, compare=False)
    """The display of the session in a terminal and in a notebook."""

    def __repr__(self) -> str:
        text = f"<Session: torch {self.torch_version}, {len(self.functions)} functions>"
        return text if self.view is None else self.view.text(self)

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
        pairs = [(function, compiled) for function in self.functions.values() for compiled in function.compiles]
        return iter(sorted(pairs, key=lambda pair: pair[1].order))


SESSION_ROWS = Record(
    Session,
    Row("torch", TEXT, "torch_version"),
    Row("python", TEXT, "python_version"),
    Row("ended", FLAG, about="False if the program was still running when it wrote this index."),
)

OTHER_ROWS = Record(
    Session,
    Row(
        "sources",
        items_of(
            Record(
                lambda file, dump: (file, dump),
                Row(
                    "file",
                    FILE,
                    lambda pair: pair[0],
                    about="The name in other places of the index.",
                    argument="file",
                ),
                Row("path", TEXT, lambda pair: pair[0], about="The name in graphs.", argument=None),
                Row("dump", TEXT, lambda pair: pair[1], about="Its copy in the dump.", argument="dump"),
            )
        ),
        about="The user's files that contain compiled code, as they were when they were compiled.",
        default=dict,
    ),
    Row(
        "packed",
        Form(several(TEXT).schema, lambda files: OneLine(sorted(files)), set, len),
        about="The files that are in `more.tar.xz`, because the dump is large; their names in the index are those in "
        "the archive.",
        default=set,
    ),
    Row("outside", growing(ARTEFACT), "loose", about="Artefacts outside any compiled frame."),
    Row(
        "compiled_before",
        items_of(
            Record(
                lambda name, file, line, hits: ((name, file, line), hits),
                Row("name", TEXT, lambda pair: pair[0][0], argument="name"),
                Row("file", FILE, lambda pair: pair[0][1], argument="file"),
                Row("line", INTEGER, lambda pair: pair[0][2], argument="line"),
                Row("hits", INTEGER, lambda pair: pair[1], argument="hits"),
            )
        ),
        "earlier",
        about="Calls served by code that was compiled before the context. There are no files for this code.",
    ),
    Row(
        "skipped",
        items_of(
            Record(
                lambda name, file, reason, times: ((name, file, reason), times),
                Row("name", TEXT, lambda pair: pair[0][0], argument="name"),
                Row("file", FILE, lambda pair: pair[0][1], argument="file"),
                Row(
                    "installed",
                    FLAG,
                    lambda pair: is_installed(pair[0][1]),
                    about="Whether the file belongs to an installed package or to Python's library.",
                    argument=None,
                ),
                Row("reason", TEXT, lambda pair: pair[0][2], argument="reason"),
                Row("times", INTEGER, lambda pair: pair[1], argument="times"),
            )
        ),
        about="Frames that Dynamo skipped, with torch's reason.",
    ),
    Row(
        "bypassed",
        items_of(BYPASSED_ROWS),
        about="Calls and hooks that compiled code did not serve: methods of the original module of a compiled one, "
        "calls under a stance, hooks that were registered after the compile.",
        default=dict,
    ),
    Row(
        "tried",
        items_of(TRIED_ROWS),
        about="The results of `depyf fix` for the findings of this run, once it has run.",
        default=dict,
    ),
    Row(
        "unavailable",
        Form(mapping(TEXT).schema, lambda seams: dict(sorted(seams.items())), dict),
        about="Facts that this torch does not provide, each with the reason.",
    ),
    Row(
        "shapes",
        growing(one_line(SHAPE)),
        about="Decisions about symbolic shapes outside a compile, in an export.",
        default=list,
    ),
    Row("problems", growing(PROBLEM_ROWS.form), about="Errors inside depyf."),
)
"""The parts of a session beside its compiles, which only grow."""

TRACE = Row(
    "trace",
    nullable(TRACE_ROWS.form),
    about="The trace file from which the run was read; null for a captured run.",
    default=None,
)
