"""Find the lines of each stage of the compiler that come from one of the user's lines."""

from __future__ import annotations

from collections.abc import Iterator

from depyf.bytecode.records import dataclass
from depyf.links.documents import Document, documents
from depyf.links.of_line import is_same_file
from depyf.views.brief.answer import Question, UnknownIdError, frame_of
from depyf.views.brief.fitted import Json

MOST_LINES = 400
"""Lines of one text that are shown. A line of a small model becomes at most some dozens."""


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of one text of a compile that a line of the user's became."""

    compile: str
    document: Document
    lines: tuple[int, ...]


def stage_of_line(question: Question, file: str, line: int, stage: str = "") -> str:
    """Return JSON with what a line became in a stage, or, without a stage, in which stages it is.

    Args:
        question: the runs, and the budget of the answer.
        file: the user's file, by its path, the end of it, or its name.
        line: the line number in the user's file.
        stage: the key of a text, such as `captured_graph`, `transformed`, `kernel` or `guards`, or its start.

    Raises:
        UnknownIdError: no text of the run is linked to the line; the message names lines that are.
    """
    parts = [part for part in _parts(question, file, line) if part.document.key.startswith(stage)]
    if not parts:
        raise UnknownIdError(_nothing(question, file, line, stage))
    frame = frame_of(question, "stage", file=file, line=line)
    if stage:
        shown = frame.fill("parts", map(_shown, parts), at_least_one=True)
    else:
        shown = frame.fill("stages", map(_listed, parts), at_least_one=True)
    left = len(parts) - shown
    frame.end("rest", [f"{left} more; ask for one stage, or with a larger budget"] if left else [])
    return frame.text


def _parts(question: Question, file: str, line: int) -> Iterator[Part]:
    for _, run, function, compiled in question.compiles():
        for document in documents(run, function, compiled):
            numbers = [
                number
                for number, origins in sorted(document.links.lines.items())
                if any(origin[1] == line and is_same_file(origin[0], file) for origin in origins)
            ]
            if numbers:
                yield Part(str(compiled.id), document, tuple(numbers))


def _listed(part: Part) -> Json:
    return {"compile": part.compile, "stage": part.document.key, "lines": len(part.lines), "file": part.document.file}


def _shown(part: Part) -> Json:
    rows = part.document.text.split("\n")
    text = "\n".join(f"{number}: {rows[number - 1]}" for number in part.lines[:MOST_LINES] if number <= len(rows))
    return {"compile": part.compile, "stage": part.document.key, "file": part.document.file, "text": text}


def _nothing(question: Question, file: str, line: int, stage: str) -> str:
    """Return a message that names what could be asked for instead."""
    linked: set[int] = set()
    keys: set[str] = set()
    for _, run, function, compiled in question.compiles():
        for document in documents(run, function, compiled):
            keys.add(document.key)
            linked |= {origin[1] for origin in document.links.all() if is_same_file(origin[0], file)}
    what = f"no text{f' of stage {stage!r}' if stage else ''} is linked to line {line} of {file!r}"
    if stage and not any(key.startswith(stage) for key in keys):
        return f"{what}; the stages are {', '.join(sorted(keys))}"
    nearest = sorted(sorted(linked, key=lambda linked_line: abs(linked_line - line))[:8])
    return f"{what}; linked lines near it: {', '.join(map(str, nearest)) or 'none'}"
