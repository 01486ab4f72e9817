"""Read `index.json` back into the model, for views of a finished or killed run of another process.

A value that the index does not have keeps its default. The user's files have the short names of the index.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from depyf.bytecode.records import dataclass
from depyf.model.archive import archived
from depyf.model.bypass import Bypass, Way
from depyf.model.cuda_graphs import CudaGraph
from depyf.model.failure import CallFailure, Failure
from depyf.model.finding import Cost, Difference, Finding, Where
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.lines_read import LinesRead
from depyf.model.repeats import Repeat
from depyf.model.run import (
    Artefact,
    CacheEvent,
    Compile,
    CompileId,
    Dialect,
    EntryContrast,
    FailedEntry,
    FirstCall,
    Function,
    GraphBreak,
    Guard,
    GuardSet,
    NoCall,
    OtherEntries,
    Problem,
    Recompile,
    Resume,
    Session,
    ShapeFact,
    SideEffect,
    Transformed,
    Trigger,
    Unavailable,
)
from depyf.model.running_compile import LOG, RunningCompile
from depyf.model.running_log import has_log, read_log
from depyf.model.schema_1 import failure_of_sentence
from depyf.model.trace_file import TraceFile
from depyf.model.user_line import UserLine
from depyf.model.user_source import function_in
from depyf.model.writer import INDEX
from depyf.verify.level import Level

Json = dict[str, Any]
Order = dict[str, list[int]]
"""The positions of each compile id in the order of all compiles. After a reset torch reuses ids."""

Family: TypeAlias = list[tuple[Function, Compile]]
"""The compiles of a function and of its resume functions, each with its function, in the order in which they began."""

_ID = re.compile(r"(?:!(\d+)/)?(g?\d+)/(\d+)(?:#(\d+))?$")


@dataclass(frozen=True, slots=True)
class Run:
    """A dump and the run that it describes.

    names: the index's names for the files that graphs name by path. The keys of `session.sources` are these names.
    texts: the texts of files that are in no directory.
    """

    directory: Path
    session: Session
    names: dict[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)

    def families(self) -> dict[str, Family]:
        """Return the compiles of each root function and of its resume functions, by the root's key, in order."""
        found: dict[str, Family] = {each.key: [] for each in self.session.roots()}
        for function, compiled in self.session.compiles():
            found[function.root].append((function, compiled))
        return found

    def source_of(self, function: Function) -> str:
        """Return the source of a function, or of the function that it resumes; "" without a file."""
        root = self.session.functions[function.root]
        text = self.text(self.session.sources.get(root.filename, ""))
        return function_in(text.splitlines(keepends=True), root.first_line)

    def text(self, file: str) -> str:
        """Return the text of a file of the dump, or ""."""
        if file in self.texts:
            return self.texts[file]
        path = self.directory / file
        if file and path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
        return archived(self.directory).get(file, "") if file in self.session.packed else ""


def read_run(directory: Path) -> Run:
    """Return the run that a dump describes.

    Raises:
        OSError: the directory has no index.
        ValueError: the index is not depyf's.
    """
    if has_log(directory):
        return _run_of(directory, load_index(directory))
    # Read the file twice through one handle, because another file may replace it in the meantime.
    with open(directory / INDEX, "rb") as file:
        return _run_of(directory, _read_on_demand(file))


def _run_of(directory: Path, index: Json) -> Run:
    try:
        names = {each["path"]: each["file"] for each in index.get("sources", ())}
        run = Run(directory, session_of(index), names)
    except KeyError as error:
        raise ValueError(f"{directory / INDEX} is no index of depyf's: it has no {error}") from error
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{directory / INDEX} is no index of depyf's: {error}") from error
    for function in run.session.functions.values():
        # Explanations of recompiles and breaks need the source. A long run has thousands of functions.
        if any(isinstance(each.trigger, Recompile) or each.breaks for each in function.compiles):
            root = run.session.functions[function.root]
            root.source = root.source or run.source_of(root)
    return run


def has_index(directory: Path) -> bool:
    """Return whether a directory has the index of a finished or running run."""
    return has_log(directory) or (directory / INDEX).is_file()


def index_file(directory: Path) -> Path:
    """Return the file of a directory that has the index. For a running or killed run, that is the log."""
    return directory / (LOG if has_log(directory) else INDEX)


def changed_at(directory: Path) -> float:
    """Return when the index of a directory was last written, in seconds since the epoch."""
    return index_file(directory).stat().st_mtime


def load_index(directory: Path) -> Json:
    """Return the index of a run. For a running or killed run, read it from the log.

    Raises:
        OSError: the directory has no index.
        ValueError: the index is damaged.
    """
    if has_log(directory):
        return read_log(directory)
    try:
        found: Json = json.loads((directory / INDEX).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{directory / INDEX} is damaged: {error}") from error
    return found


def read_session(directory: Path) -> Session:
    """Return the session in the index of a directory.

    Raises:
        OSError: there is none in the directory.
        ValueError: it is damaged.
    """
    return session_of(load_index(directory))


def _read_on_demand(file: BinaryIO) -> Json:
    """Return an index whose functions are parsed on demand: as data, 10,000 compiles are much larger than as text.

    Raises:
        ValueError: the index is damaged.
    """
    kept: list[bytes] = []
    is_inside = is_ours = False
    for line in file:
        is_inside = (is_inside or line.startswith(_FUNCTIONS)) and not line.startswith(_ORDER)
        is_ours = is_ours or is_inside
        if not is_inside:
            kept.append(line)
    file.seek(0)
    try:
        index: Json = json.loads(file.read() if is_inside else b"".join(kept))
    except ValueError as error:
        raise ValueError(f"{file.name} is damaged: {error}") from error
    if is_ours and not is_inside:
        index["functions"] = _functions(file)
    return index


# JSON strings contain no line breaks, so the indentation of a line shows its depth.
_FUNCTIONS, _ORDER = b' "functions": [', b' "order": ['
_LAST = b"  }"
"""The last line of a function."""


def _functions(file: BinaryIO) -> Iterator[Json]:
    rows: list[bytes] = []
    lines = dropwhile(lambda line: not line.startswith(_FUNCTIONS), file)
    for line in islice(takewhile(lambda line: not line.startswith(_ORDER), lines), 1, None):
        rows.append(line)
        if line.startswith(_LAST):
            try:
                yield json.loads(b"".join(rows).rstrip(b",\n"))
            except ValueError as error:
                raise ValueError(f"{file.name} is damaged: {error}") from error
            rows.clear()


def session_of(index: Json) -> Session:
    """Return the session that an index describes."""
    session = Session(index["torch"], index["python"], ended=index["ended"])
    order: Order = {}
    for number, compile_id in enumerate(index["order"]):
        order.setdefault(compile_id, []).append(number)
    for root in index["functions"]:
        key = f"{len(session.functions)}"
        session.functions[key] = _function(root, key, key, order)
        for resume in root["resume_functions"]:
            own = f"{len(session.functions)}"
            session.functions[own] = _function(resume, own, key, order)
    session.now = tuple(RunningCompile(**each) for each in index.get("now", ()))
    session.loose = [_artefact(each) for each in index["outside"]]
    session.earlier = {(each["name"], each["file"], each["line"]): each["hits"] for each in index["compiled_before"]}
    session.skipped = {(each["name"], each["file"], each["reason"]): each["times"] for each in index["skipped"]}
    session.bypassed = {_bypass(each): each["times"] for each in index.get("bypassed", ())}
    session.installed = {each["file"] for each in index["skipped"] if each.get("installed")}
    session.sources = {each["file"]: each["dump"] for each in index.get("sources", ())}
    session.packed = set(index.get("packed", ()))
    session.unavailable = dict(index["unavailable"])
    session.shapes = [_shape(each) for each in index.get("shapes", ())]
    session.trace = _trace(index["trace"]) if index.get("trace") else None
    session.problems = [Problem(each["where"], each["message"]) for each in index["problems"]]
    return session


def _bypass(found: Json) -> Bypass:
    texts = (found["about"], found["compile"], found["reason"])
    return Bypass(Way(found["way"]), found["what"], found["detail"], _line(found["where"]), *texts)


def findings_of(index: Json) -> list[Finding]:
    """Return the findings in an index; none if depyf had no findings yet when it wrote the index."""
    return [
        Finding(
            each["kind"],
            each["severity"],
            Where(**each["where"]) if each["where"] is not None else None,
            each["cause"],
            Cost(**each["cost"]),
            each["fix"],
            tuple(each["compiles"]),
            tuple(_difference(other) for other in each.get("also", ())),
        )
        for each in index.get("findings", ())
    ]


def _difference(found: Json) -> Difference:
    where = Where(**found["where"]) if found["where"] is not None else None
    return Difference(found["kind"], where, found["cause"], found["fix"], found["count"])


def _function(found: Json, key: str, root: str, order: Order) -> Function:
    function = Function(key, found["name"], found["file"], found["line"], "", root, file=found["dump"])
    function.qualname = found.get("qualname", "")
    function.parameters = tuple(found.get("parameters", ()))
    function.break_line = found.get("broke_at")
    function.resumes_at = found.get("resumes_at")
    function.eager_calls = found.get("eager_calls")
    function.resume_name = found.get("called_as") or ""
    function.compiles = [_compile(each, function, order) for each in found["compiles"]]
    return function


def _compile(found: Json, function: Function, order: Order) -> Compile:
    return Compile(
        id=_compile_id(found["id"]),
        name=function.name,
        filename=function.filename,
        first_line=function.first_line,
        trigger=_trigger(found["trigger"]),
        user_stack=_lines(found["called_from"]),
        attempts=found["attempts"],
        transformed=_transformed(found["transformed"]),
        compiled_fns=tuple(found["graphs_called"]),
        resumes=tuple(found["resume_functions_called"]),
        artefacts=[_artefact(each) for each in found["artefacts"]],
        guards=_guards(found["guards"]),
        guard_count=found["guard_count"],
        breaks=[_break(each) for each in found["breaks"]],
        effects=[SideEffect(each["source"], _lines(each["lines"])) for each in found.get("side_effects", ())],
        caches=[_cache(each) for each in found.get("caches", ())],
        cuda_graphs=[_cuda_graph(each) for each in found.get("cuda_graphs", ())],
        shapes=[_shape(each) for each in found.get("shapes", ())],
        metrics=found.get("metrics", {}),
        op_count=found["op_count"],
        hits=found["hits"],
        seconds=found["seconds"],
        began=found.get("began"),
        failure=_failure(found["failure"]),
        call_failures=[_call_failure(each) for each in found.get("call_failures", ())],
        phase=found.get("phase", ""),
        backend=found.get("backend", ""),
        phase_began=found.get("phase_began"),
        lines=tuple(map(_lines_read, found.get("lines", ()))),
        repeats=tuple(Repeat(**each | {"where": _line(each["where"])}) for each in found.get("repeats", ())),
        gone=found["gone"] or "",
        contrast=EntryContrast(found["contrast"]["entry"], tuple(found["contrast"]["respects"]))
        if found["contrast"]
        else None,
        order=order[found["id"]].pop(0),
    )


def _lines_read(found: Json) -> LinesRead:
    return LinesRead(
        found["function"],
        found["file"],
        found["line"],
        tuple(found["lines"]),
        tuple(found["in_graphs"]),
        tuple(found["read"]),
        tuple(found.get("deciding", ())),
    )


def _failure(found: Json | None) -> Failure | None:
    if found is None:
        return None
    where, phase = _line(found.get("where")), found.get("phase", "")
    causes, demanded_by = tuple(found.get("causes", ())), found.get("demanded_by", "")
    return Failure(found["kind"], found["reason"], where, phase, found.get("raised"), causes, demanded_by)


def _call_failure(found: Json) -> CallFailure:
    failure = _failure(found)
    assert failure is not None
    return CallFailure(failure, found["times"])


def _compile_id(text: str) -> CompileId:
    match = _ID.match(text)
    if match is None:
        raise KeyError(text)
    frame = -1 - int(match[2][1:]) if match[2].startswith("g") else int(match[2])
    return CompileId(frame, int(match[3]), int(match[1]) if match[1] else -1, int(match[4] or 1))


def _others(found: Json | None) -> OtherEntries | None:
    if found is None:
        return None
    return OtherEntries(found["count"], found["first"], found["last"], tuple(found["forms"]))


def _failed(found: Json) -> FailedEntry:
    failures = tuple(map(_guard_failure, found["failures"]))
    return FailedEntry(found["entry"], tuple(found["clauses"]), failures, found["complete"])


def _guard_failure(found: Json) -> GuardFailure:
    return GuardFailure(
        source=found.get("source", ""),
        check=Check[found["check"]],
        expected=found.get("expected", ""),
        actual=found.get("actual", ""),
        line=_line(found.get("where")),
        text=found.get("text", ""),
        guard=found.get("guard", ""),
        item=found.get("item", ""),
        dimension=found.get("dimension", -1),
        type=found.get("type", ""),
        values=tuple((source, value) for source, value in found.get("values", ())),
    )


def _failed_1(found: Json) -> FailedEntry:
    """Return a failed entry of schema 1, which holds guard failures as sentences."""
    sentences = found["explained"] or found["clauses"]
    failures = tuple(map(failure_of_sentence, sentences))
    return FailedEntry(found["entry"], tuple(found["clauses"]), failures, bool(found["explained"]))


def _trigger(found: Json) -> Trigger:
    match found["kind"]:
        case "recompile":
            entries = map(_failed, found["entries"]) if "entries" in found else map(_failed_1, found["refused"])
            return Recompile(tuple(entries), _others(found.get("others")))
        case "resume":
            return Resume(_compile_id(found["caller"]), found["offset"])
        case "no call":
            return NoCall(found["how"])
        case _:
            return FirstCall(found.get("failed", ""))


def _transformed(found: Json) -> Transformed | Unavailable:
    if "unavailable" in found:
        return Unavailable(found["unavailable"])
    return Transformed(
        instructions=found["instructions"],
        lines_of_bytecode=tuple(tuple(tuple(each) for each in code) for code in found.get("lines_of_bytecode", ())),
        source="",
        module="",
        level=Level[found["level"]],
        reason=found["reason"],
        installed=found["installed"],
        file=found["file"],
    )


def _guards(found: Any) -> GuardSet | Unavailable:  # noqa: ANN401 - JSON
    if isinstance(found, dict):
        return Unavailable(found["unavailable"])
    texts: dict[tuple[str, int, str], str] = {}
    guards = []
    for each in found:
        where = each["where"]
        if where is not None:
            # The index has the text of a line once.
            place = where["file"], where["line"], where["function"]
            texts[place] = text = where["text"] or texts.get(place, "")
            where = {**where, "text": text}
        guards.append(Guard(each["kind"], each["source"], "", each["clause"], _line(where)))
    return GuardSet(tuple(guards))


def _artefact(found: Json) -> Artefact:
    return Artefact(
        found["stage"],
        Dialect(found["kind"]),
        "",
        part=found.get("part", ""),
        attempt=found.get("attempt", 0),
        file=found["file"],
    )


def _cache(found: Json) -> CacheEvent:
    artefact = Artefact(f"{found['cache']}_cache_{found['outcome']}", Dialect.JSON, "", file=found["file"])
    return CacheEvent(found["cache"], found["outcome"], found["key"], found["reason"], found["seconds_saved"], artefact)


def _cuda_graph(found: Json) -> CudaGraph:
    where = found["where"]
    place = (where["file"], where["line"], where["function"]) if where else None
    return CudaGraph(found["event"], found["part"], found["reason"], place, found["seconds"])


def _shape(found: Json) -> ShapeFact:
    return ShapeFact(found["kind"], found["expression"], found["detail"], _line(found["where"]))


def _trace(found: Json) -> TraceFile:
    return TraceFile(found["file"], found["size"], found["records"], found["omitted"], found["last"], found["seconds"])


def _break(found: Json) -> GraphBreak:
    return GraphBreak(
        reason=found["reason"],
        explanation=found["explanation"],
        hints=tuple(found["hints"]),
        code=found["code"],
        where=_line(found["where"]),
        stack=_lines(found["stack"]),
        attempt=0,
        text="",
        called=_line(found.get("called")),
    )


def _lines(found: list[Json]) -> tuple[UserLine, ...]:
    return tuple(line for line in map(_line, found) if line is not None)


def _line(found: Json | None) -> UserLine | None:
    return _same(found["file"], found["line"], found["text"], found["function"]) if found is not None else None


_same = lru_cache(maxsize=4096)(UserLine)
"""Cached, because the stacks of a run share most of their lines."""
