"""Parse the records of torch's structured trace: each parser turns one kind of record into data of the model."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from depyf.bytecode.patterns import pattern
from depyf.model.failure import Failure
from depyf.model.names import resumed_function
from depyf.model.phases import CPP, TRITON
from depyf.model.reproducible import reproducible
from depyf.model.run import CompileId, GraphBreak, ShapeFact, SideEffect
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_library_file, is_of_torch, line_at

Metadata = Mapping[str, Any]
LineAt: TypeAlias = Callable[[str, int, str], UserLine]
"""Creates a line of the user's from its file, its number and its function. Only a live process trusts its own files."""

_BREAK_PLACE = pattern(r"^Graph break in user code at (?P<file>.*):(?P<line>\d+)\s*$", re.MULTILINE)
_BREAK_REASON = pattern(r"^(?:Graph Break )?Reason: (?:Unsupported: )?(?P<reason>.*)$", re.MULTILINE)
"""torch 2.6 and older write only `Reason`."""
_BREAK_CODE = pattern(r"\bgb(\d{4})\b", re.IGNORECASE)
_ORIGIN = pattern(r"(?:Original traceback:|fake tensor exception at) *\n(?P<frames>(?:[^\n]*\S[^\n]*(?:\n|$))+)")
"""The frames that led to the node at which a backend failed."""
_USER_STACK = pattern(r"^User stack: *\n(?P<frames>(?:[^\n]*\S[^\n]*(?:\n|$))+)", re.MULTILINE)
"""The frames of the user's that led to an error about sizes. The innermost may be in another function."""
_FALLBACK = "WON'T CONVERT "
"""torch's warning about an exception in a backend. The resulting graph break follows, or is part of the failure."""
_BREAK_OF_FRAME = pattern(r"^Graph break: skip: from user code at:$", re.MULTILINE)
_EXCEPTION = pattern(r"^torch\._dynamo\.exc\.\w+: ", re.MULTILINE)
"""Before 2.10, if torch skips the whole frame for a break, only the exception below has the reason."""
_BREAK_PART = pattern(r"^  (Explanation|Hint|Developer debug context): ", re.MULTILINE)
_BREAK_END = pattern(r"^\s?For more details about this graph break|^User code traceback:", re.MULTILINE)
_BREAK_INTERNALS = pattern(r"^Traceback \(most recent call last\):|^NoneType: None", re.MULTILINE)
_FRAME = pattern(r'^\s*File "(?P<file>.*)", line (?P<line>\d+), in (?P<fn>.*)$', re.MULTILINE)
_STACK_FRAME = pattern(r'^  File "(?P<file>.*)", line (?P<line>\d+), in (?P<fn>.*)$', re.MULTILINE)
_NEXT_EFFECT = pattern(r"^=+$", re.MULTILINE)
_NEXT_STACK = pattern(r"^\s*\*+$", re.MULTILINE)
_EFFECT_SOURCE = pattern(
    r"\s*Mutating object of type .*? \(source(?: name)?: (?!created in |torch function mode)(?P<name>.*?)\)"
    r"(?: \(unable to .*)?$",
    re.MULTILINE,
)
_STACK_FRAME_OF_EFFECT = pattern(r'^ +File "(?P<file>.*)", line (?P<line>\d+), in (?P<fn>.*)$', re.MULTILINE)

SECONDS = {
    "entire_frame_compile_time_s": "total",
    "backend_compile_time_s": "backend",
    "inductor_compile_time_s": "inductor",
    "code_gen_time_s": "code generation",
    "dynamo_time_before_restart_s": "before restart",
    "structured_logging_overhead_s": "torch's own trace",
}
"""torch's names of the phases, and their names in a dump; all in seconds."""


def record_compile_id(metadata: Metadata) -> CompileId | None:
    """Return the id of the compile that a record belongs to, or None."""
    frame, number = metadata.get("frame_id"), metadata.get("frame_compile_id")
    if not isinstance(frame, int) or not isinstance(number, int):
        return None
    autograd = metadata.get("compiled_autograd_id")
    return CompileId(frame, number, autograd if isinstance(autograd, int) else -1)


def record_kind(metadata: Metadata) -> tuple[str, Mapping[str, Any]]:
    """Return the name of a record and its data. An artefact or a dumped graph has its own name."""
    name, value = next(iter(metadata.items()), ("", {}))
    details = value if isinstance(value, Mapping) else {}
    if name in ("artifact", "graph_dump"):
        return str(details.get("name", "artifact")), details
    return name, details


def user_stack(stack: object, filenames: Mapping[int, str], line_of: LineAt = line_at) -> tuple[UserLine, ...]:
    """Return a structured stack, outermost first; `filenames` maps the numbers of file names.

    Args:
        stack: the frames as torch's JSON has them.
        filenames: the names of files, by number.
        line_of: returns a line of the user's with its text.
    """
    lines = []
    for frame in stack if isinstance(stack, list) else []:
        filename = filenames.get(frame.get("filename"), "")
        line, function = int(frame.get("line") or 0), str(frame.get("name") or "")
        loc = frame.get("loc")
        lines.append(UserLine(filename, line, loc.strip(), function) if loc else line_of(filename, line, function))
    return tuple(lines)


def with_last_frames(
    stack: tuple[UserLine, ...], call: tuple[str, int, str] | None, code: types.CodeType | None
) -> tuple[UserLine, ...]:
    """Return a stack that ends with the place of the compiled call, and the function itself.

    torch 2.4 leaves out the function. Newer releases leave out the last caller if it calls the result of
    `torch.compile`.

    Args:
        stack: the user's lines, outermost first.
        call: the file, the line and the function of the compiled call, if known.
        code: the code of the compiled function, if known.
    """
    code_place = (code.co_filename, code.co_firstlineno, code.co_name) if code is not None else None
    callers = stack[:-1] if stack and code_place is not None and _place(stack[-1]) == code_place else stack
    if code_place is None:
        return stack
    if call is not None and (not callers or _place(callers[-1]) != call):
        callers = (*callers, line_at(*call))
    return (*callers, line_at(*code_place))


def _place(line: UserLine) -> tuple[str, int, str]:
    return line.filename, line.line, line.function


def is_break(payload: str) -> bool:
    """Return whether a text of torch's about a graph break is more than its warning before one."""
    return not payload.startswith(_FALLBACK)


def graph_break(payload: str, attempt: int, line_of: LineAt = line_at) -> GraphBreak:
    """Parse torch's text about a graph break.

    Args:
        payload: torch's text.
        attempt: how often Dynamo had restarted the compile before.
        line_of: returns a line of the user's with its text.
    """
    text = _BREAK_INTERNALS.split(payload, maxsplit=1)[0].strip()
    place = _BREAK_PLACE.search(text)
    message = _message_of_skip(payload) or text
    code = _BREAK_CODE.search(message)
    parts = _parts_of_break(message)
    stack = tuple(line_of(frame["file"], int(frame["line"]), frame["fn"]) for frame in _STACK_FRAME.finditer(text))
    origin = _origin(message, line_of)
    stack, place = (*stack, *origin), None if origin else place
    innermost = stack[-1] if stack else None
    function = innermost.function if innermost is not None else ""
    return GraphBreak(
        reason=_reason_of_break(message),
        explanation=" ".join(parts.get("Explanation", [""])[0].split()),
        hints=tuple(" ".join(hint.split()) for hint in parts.get("Hint", [])),
        code=f"GB{code[1]}" if code else "",
        where=line_of(place["file"], int(place["line"]), function) if place else innermost,
        stack=stack,
        attempt=attempt,
        text=text,
    )


def _origin(text: str, line_of: LineAt) -> tuple[UserLine, ...]:
    """Return the user's lines that led to the node at which a backend failed, outermost first.

    Of the graph break itself torch knows only the first line of the function.
    """
    origin = _ORIGIN.search(text)
    frames = _FRAME.finditer(origin["frames"]) if origin is not None else ()
    return tuple(line_of(frame["file"], int(frame["line"]), frame["fn"]) for frame in frames)


def stack_frames(text: str) -> list[tuple[str, int, str]]:
    """Return the file, line and function of each frame of a printed stack, outermost first."""
    return [(frame["file"], int(frame["line"]), frame["fn"]) for frame in _FRAME.finditer(text)]


def side_effects(
    payload: str, known: Iterable[SideEffect] = (), function: tuple[str, str] = ("", ""), line_of: LineAt = line_at
) -> list[SideEffect]:
    """Parse which objects the code changes, each with the innermost lines of the user's that asked for it.

    Objects that the program cannot name are left out. A change before the first line of the function, for the cell of a
    parameter, has only lines of its callers, which are left out.

    Args:
        payload: torch's text.
        known: the changes of earlier records, to which the new lines are added.
        function: the file and the name of the compiled function.
        line_of: returns a line of the user's with its text.
    """
    lines = {side_effect.source: list(side_effect.lines) for side_effect in known}
    for part in _NEXT_EFFECT.split(payload):
        source = _EFFECT_SOURCE.match(part)
        if source is not None:
            innermost = [_innermost(stack) for stack in printed_stacks(part, line_of) if is_inside(stack, function)]
            lines.setdefault(source["name"], []).extend(innermost)
    return [SideEffect(name, tuple(dict.fromkeys(user_lines))) for name, user_lines in lines.items()]


def _innermost(stack: Sequence[UserLine]) -> UserLine:
    """Return the innermost line that is not of torch: `self.n = 1` of a module runs a method of torch's."""
    return next((line for line in reversed(stack) if not is_of_torch(line.filename)), stack[-1])


def printed_stacks(text: str, line_of: LineAt = line_at) -> list[tuple[UserLine, ...]]:
    """Return the stacks that torch printed into a text of side effects, outermost lines first."""
    stacks = (
        _STACK_FRAME_OF_EFFECT.finditer(part) for whole in _NEXT_EFFECT.split(text) for part in _NEXT_STACK.split(whole)
    )
    parsed = (tuple(line_of(frame["file"], int(frame["line"]), frame["fn"]) for frame in stack) for stack in stacks)
    return [stack for stack in parsed if stack]


def is_inside(stack: Sequence[UserLine], function: tuple[str, str]) -> bool:
    """Return whether a function, given by file and name, is in a stack. A function without a file is in every stack."""
    filename, name = function
    resumed = resumed_function(name)
    names = (name, resumed[0]) if resumed is not None else (name,)
    return not filename or any(line.filename == filename and line.function in names for line in stack)


def _message_of_skip(payload: str) -> str:
    """Return the message of the exception for which a frame was skipped, or "" for another break."""
    exceptions = list(_EXCEPTION.finditer(payload)) if _BREAK_OF_FRAME.search(payload) else []
    return payload[exceptions[-1].end() :].strip() if exceptions else ""


def _reason_of_break(text: str) -> str:
    reason_match = _BREAK_REASON.search(text)
    if reason_match is None:
        return text.split("\n", 1)[0]
    reason = reason_match["reason"].strip()
    # A reason that ends in a colon only names Dynamo's own instruction. The actual reason follows.
    below = text[reason_match.end() :].strip().split("\n", 1)[0].strip()
    is_reason = reason.endswith(":") and below and not _BREAK_END.match(below)
    return _without_quotes(below if is_reason else reason.removesuffix(":"))


def _without_quotes(reason: str) -> str:
    """Return a reason without quotes around it. torch 2.2 doubles a quote inside them."""
    if len(reason) < 2 or not reason[0] == reason[-1] == "'":
        return reason
    return reason[1:-1].replace("''", "")


def _parts_of_break(text: str) -> dict[str, list[str]]:
    end = _BREAK_END.search(text)
    body = text[: end.start()] if end else text
    parts: dict[str, list[str]] = {}
    marks = list(_BREAK_PART.finditer(body))
    for index, mark in enumerate(marks):
        until = marks[index + 1].start() if index + 1 < len(marks) else len(body)
        parts.setdefault(mark[1], []).append(body[mark.end() : until].strip())
    return parts


def seconds(metrics: Mapping[str, Any], *, has_triton: bool) -> dict[str, float]:
    """Return the times of a compile, in seconds per phase. A phase that did not run is left out.

    has_triton: whether there is a Triton kernel. torch names the time to wait for kernels after Triton, even if only
        the C++ compiler runs.
    """
    given = {label: metrics.get(name) for name, label in SECONDS.items()}
    times = {label: float(value) for label, value in given.items() if isinstance(value, (int, float)) and value > 0}
    waited = metrics.get("triton_compile_time_us")
    if isinstance(waited, (int, float)) and waited > 0:
        times[TRITON if has_triton else CPP] = waited / 1e6
    if "total" in times:
        dynamo = times["total"] - times.get("backend", 0.0)
        times["dynamo"] = round(max(dynamo, 0.0), 6)
    return times


def backward_seconds(metrics: Mapping[str, Any], *, has_triton: bool) -> dict[str, float]:
    """Return the times of a backward that was compiled separately, in seconds per phase."""
    kept = ("inductor", "code generation", CPP, TRITON)
    times = {label: value for label, value in seconds(metrics, has_triton=has_triton).items() if label in kept}
    duration = metrics.get("duration_us")
    if isinstance(duration, (int, float)):
        times["total"] = duration / 1e6
    return {f"backward {label}": value for label, value in times.items()}


def failure_kind(metrics: Mapping[str, Any]) -> str:
    """Return the name of the exception that ended a compile, or "". Torch 2.4 writes `<class 'module.Name'>`."""
    return str(metrics.get("fail_type") or "").removesuffix("'>").rpartition(".")[2]


def failure(metrics: Mapping[str, Any], line_of: LineAt = line_at) -> Failure | None:
    """Return why a compile failed, or None if it did not."""
    kind = failure_kind(metrics)
    if not kind:
        return None
    filename, line = metrics.get("fail_user_frame_filename"), metrics.get("fail_user_frame_lineno")
    where = line_of(filename, int(line), "") if isinstance(filename, str) and line else None
    reason = reproducible(str(metrics.get("fail_reason") or ""))
    stack = _USER_STACK.search(reason)
    frames = _FRAME.finditer(stack["frames"]) if stack is not None else ()
    lines = [line_of(frame["file"], int(frame["line"]), frame["fn"]) for frame in frames] or _origin(reason, line_of)
    users = [line for line in lines if not is_library_file(line.filename)]
    innermost = next(reversed(users or lines), None)
    return Failure(kind, reason, innermost if stack is not None and lines else where or innermost)


def shape_fact(kind: str, details: Mapping[str, Any], stack: Sequence[UserLine]) -> ShapeFact:
    """Return a record's decision about a symbolic shape; `stack` are the user's lines that led to it.

    Args:
        kind: torch's name for the record.
        details: the metadata of the record.
        stack: the user's lines that led to the decision, outermost first.
    """
    first = details.get("expr") or details.get("symbol") or details.get("op") or ""
    detail = next((details[name] for name in ("result", "value", "reason", "sources") if details.get(name)), "")
    return ShapeFact(kind, str(first), str(detail), stack[-1] if stack else None)


def collectives(payload: str) -> tuple[str, ...]:
    """Return the collectives of a graph in the order in which Inductor schedules them."""
    try:
        data = json.loads(payload)
    except ValueError:
        return ()
    return tuple(map(str, data)) if isinstance(data, list) else ()


def saved_functions(payload: str) -> list[Metadata]:
    """Return the data of each function in the cache that a program saves; [] if it cannot be read."""
    try:
        functions = json.loads(payload)["artifacts"]["dynamo"]
    except (ValueError, KeyError, TypeError):
        return []
    return [function for function in functions if isinstance(function, dict)]
