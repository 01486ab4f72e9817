"""The facts about a run's compiles, which a contract counts and a snapshot lists.

A fact's text has no line number and no counter, so that it stays the same when lines move. Its place has the line.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from depyf.bytecode.records import dataclass
from depyf.findings.cache_misses.key import GRAPHS, MISS
from depyf.findings.cache_misses.looks import looks
from depyf.findings.reasons import UNTOLD, failure_words
from depyf.model.guard_failure import GuardFailure
from depyf.model.index_reader import Run
from depyf.model.names import resumed_function, without_count
from depyf.model.run import Compile, Dialect, Function, Recompile, Session
from depyf.model.skips import Whose, skips
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_library_file, short_path

NOTHING_TO_COMPILE = ("no content in function call", "no tensor-related objects", "No ops traced for the FX graph")
"""torch's reasons to leave a frame without tensor operations, in which there is nothing to compile."""

LIMITS = ("RecompileLimitExceeded", "CacheLimitExceeded", "cache_size_limit", "recompile_limit", "recompile limit")
"""torch's names, in several releases, for a function that has reached its limit of entries."""

OF_DYNAMO = "torch/_dynamo/"
"""The folder of torch's functions that call a compiled module."""

RUNS_EAGER, RAISES = "runs eager", "raises"
"""The words after the name of a frame without a compile, before the reason."""

_KERNEL = re.compile(r"^(?P<name>[A-Za-z_]\w*) = async_compile\.\w+\(", re.MULTILINE)
_EXTERN = re.compile(r"\bextern_kernels\.(?P<name>\w+)\(")
_FRAME = re.compile(r" <FrameSummary file .*?>")
_PATH = re.compile(r"(?<![\w/])/[^\s:'\"]+\.py\b")
_MODULE_END = re.compile(r"(/__init__)?\.py$")


@dataclass(frozen=True, slots=True)
class Fact:
    """One compile, or a frame without one: the aspect that counts it, and a line about it.

    where: the user's line, or None if torch does not name it.
    details: more about it, for the reader who must fix it.
    """

    aspect: str
    text: str
    where: UserLine | None = None
    details: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Return the file and line, or ""."""
        if self.where is None or not self.where.filename:
            return ""
        return f"{short_path(self.where.filename)}:{self.where.line}"


def facts(session: Session, allow: Iterable[str] = ()) -> list[Fact]:
    """Return the facts about a session's compiles, in order, without code of the modules in `allow`.

    allow: names of modules or packages, or shell patterns: `transformers`, `torchvision.models.*`. Graphs and kernels
        are always counted.
    """
    names = tuple(allow)
    all_facts = [fact for function, compiled in session.compiles() for fact in _of_compile(function, compiled)]
    all_facts += [*_of_skips(session), *_of_caches(session)]
    unique = {(fact.aspect, fact.text, fact.place): fact for fact in all_facts if fact.aspect == "breaks"}
    kept = [fact for fact in all_facts if fact.aspect != "breaks"] + list(unique.values())
    return [fact for fact in kept if fact.aspect in ("graphs", "kernels") or not is_allowed(fact.where, names)]


def is_allowed(where: UserLine | None, names: Iterable[str]) -> bool:
    """Return whether a line is in code of one of the modules, packages or patterns.

    >>> is_allowed(UserLine("transformers/models/gpt2.py", 3), ["transformers"])
    True
    """
    if where is None:
        return False
    module = module_of(where.filename)
    return any(module == name or module.startswith(f"{name}.") or fnmatch.fnmatch(module, name) for name in names)


def module_of(filename: str) -> str:
    """Return the dotted name of the module in a file.

    >>> module_of("transformers/models/__init__.py")
    'transformers.models'
    """
    parts = PurePath(_MODULE_END.sub("", short_path(filename).replace("\\", "/"))).parts
    return ".".join(part for part in parts if part not in ("/", "..", "."))


def _of_compile(function: Function, compiled: Compile) -> Iterator[Fact]:
    here = _place(function, compiled)
    name = function_words(function)
    failures = _nearest(compiled)
    why = tuple(failure_words(failure, function) for failure in failures)
    if isinstance(compiled.trigger, Recompile) and compiled.failure is None:
        # Neither the line that needs the value nor the process's counters are part of the fact.
        reason = without_count(failures[0].words) if failures else UNTOLD
        yield Fact("recompiles", f"{name}: {reason}", here, why)
    for graph_break in compiled.breaks:
        at = graph_break.where or here
        reason = plain(graph_break.reason)
        hints = tuple(f"hint: {hint}" for hint in graph_break.hints)
        yield Fact("breaks", f"{name}: `{at.text}`: {reason}", at, hints)
    if compiled.failure is not None:
        reason = plain(compiled.failure.summary)
        is_limit = any(name in compiled.failure.kind or name in compiled.failure.reason for name in LIMITS)
        limit = "the limit of recompiles is reached" if is_limit else reason
        what = RAISES if compiled.failure.raised else RUNS_EAGER
        yield Fact("eager_calls", f"{name} {what}: {limit}", compiled.failure.where or here, (reason, *why))
        return
    for artefact in compiled.artefacts:
        if artefact.stage == "Captured_Graph":
            yield Fact("graphs", name, here)
        elif artefact.dialect is Dialect.KERNEL:
            yield from (Fact("kernels", kernel, here) for kernel in kernel_names(artefact.text))


def _place(function: Function, compiled: Compile) -> UserLine:
    """Return the line of a compile; for a module of torch's, whose function is Dynamo's, the user's call."""
    here = UserLine(function.filename, function.resumes_at or function.first_line, "", function.name)
    if OF_DYNAMO not in function.filename.replace("\\", "/"):
        return here
    return next((caller for caller in reversed(compiled.user_stack) if not is_library_file(caller.filename)), here)


def _nearest(compiled: Compile) -> tuple[GuardFailure, ...]:
    """Return the guard failures of the entry with the fewest; of the newest entry if there are several."""
    if not isinstance(compiled.trigger, Recompile):
        return ()
    failures = [failed.failures for failed in reversed(compiled.trigger.entries) if failed.failures]
    return min(failures, key=len, default=())


def _of_skips(session: Session) -> Iterator[Fact]:
    failed = {
        (function.name, function.filename) for function, compiled in session.compiles() if compiled.failure is not None
    }
    for skip in skips(session):
        known = (skip.name, skip.filename) in failed
        if skip.whose is Whose.OWN and not known and not is_harmless(skip.reason):
            where = UserLine(skip.filename, 0, "", skip.name)
            yield Fact("eager_calls", f"{skip.what} {RUNS_EAGER}: {plain(skip.reason)}", where)


def _of_caches(session: Session) -> Iterator[Fact]:
    if all(event.outcome != MISS for _, compiled in session.compiles() for event in compiled.caches):
        return  # The reason for a miss needs the records of all compiles.
    for look in looks(Run(Path(session.directory), session, {})):
        if look.event.outcome == MISS and look.event.cache in GRAPHS:
            here = UserLine(look.function.filename, look.function.first_line, "", look.function.name)
            yield Fact("cache_misses", f"{function_words(look.function)}: {look.cache}", here, (look.why,))


def is_harmless(reason: str) -> bool:
    """Return whether torch left a frame because it contains nothing to compile."""
    return any(words in reason for words in NOTHING_TO_COMPILE)


def plain(reason: str) -> str:
    """Return torch's reason in one line, with short file names and without line numbers.

    >>> plain("graph break in a loop <FrameSummary file model.py, line 3 in f>")
    'graph break in a loop'
    """
    short = _PATH.sub(lambda match: short_path(match[0]), _FRAME.sub("", reason))
    return " ".join(short.split()).strip("'")


def function_words(function: Function) -> str:
    """Return the name of a function in facts. A resume function has the name of its function."""
    rest = resumed_function(function.name)
    return f"{rest[0]} (after a break)" if rest else function.name


def kernel_names(text: str) -> list[str]:
    """Return the kernels that a module of Inductor's defines or calls, each once, in order."""
    defined = [match["name"] for match in _KERNEL.finditer(text)]
    extern = [f"extern {match['name']}" for match in _EXTERN.finditer(text)]
    return list(dict.fromkeys([*defined, *extern]))
