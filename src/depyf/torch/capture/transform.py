"""Turn Dynamo's bytecode into source, and the source into the code that may run instead.

Only proven code replaces running code. Everything else is only shown.
"""

from __future__ import annotations

import dataclasses
import types

from depyf.bytecode.records import dataclass
from depyf.model.artifacts.graph_source import user_lines
from depyf.model.artifacts.transformed_source import Notes, annotated, comment_lines
from depyf.model.names import compiled_fn_number, file_part, resume_offset
from depyf.model.reproducible import reproducible
from depyf.model.run import Compile, Dialect, Function, Recompile, Transformed
from depyf.model.user_source import marked_source
from depyf.torch.capture.equal_codes import EqualCodes
from depyf.torch.capture.known_graphs import assumptions, result_names
from depyf.torch.capture.listing import line_of_offset, listing, object_words
from depyf.torch.capture.proven import Proven
from depyf.torch.capture.recorder import Running
from depyf.torch.stepping.proven_codes import OF_FILE, FileCode
from depyf.trace.directory import Dump
from depyf.verify.assumptions import Assumptions
from depyf.verify.level import Level
from depyf.views.words import in_columns, place_words, proof_words, resumption, trigger_words


@dataclass(frozen=True, slots=True)
class Subject:
    """One compile, the user's function that it compiles or resumes, the original code, and Dynamo's."""

    running: Running
    root: Function
    code: types.CodeType
    new_code: types.CodeType

    @property
    def compile(self) -> Compile:
        """The compile in the model."""
        return self.running.compile

    @property
    def function(self) -> Function:
        """The function that was compiled."""
        return self.running.function


def transform(
    subject: Subject, dump: Dump, codes: EqualCodes, *, log_bytecode: bool, install: bool
) -> types.CodeType | None:
    """Write the source of Dynamo's code to a file and return the code compiled from that file.

    Return None if Dynamo's own code must stay, because the equivalence is not proven or the file could not be written;
    `subject.compile.transformed` has the reason. Also return None if nothing is to be replaced (`install`). Then
    `debug` creates and proves the code, and the file waits for the guards (`Running.unwritten`), which explain the
    compile.

    Args:
        subject: the compile, its function, and both codes.
        dump: takes the file.
        codes: the results for equal codes.
        log_bytecode: whether to write listings of the bytecode, too.
        install: whether the code of the file replaces Dynamo's if it is proven.
    """
    compiled, now = subject.compile, install or log_bytecode
    known = dataclasses.replace(assumptions(compiled, subject.new_code), in_place=install)
    if install:
        codes = EqualCodes()  # What replaces running code is always proven anew.
    shown = codes.shown(subject.new_code, known, result_names(compiled, subject.new_code))
    decompiled = shown.decompiled
    transformed = Transformed(
        instructions=shown.instructions,
        source=shown.source,
        module=shown.module,
        level=decompiled.level,
        reason=reproducible(decompiled.reason),
        installed=decompiled.level is not Level.UNPROVEN,
        names={stable: name for name, stable in shown.to_dump.items()},
        placeholders=tuple(decompiled.placeholders),
    )
    compiled.transformed = transformed
    subject.running.placeholders = decompiled.placeholders
    file = _File(subject, transformed, decompiled, dump, _file_name(subject, dump), known)
    if not now:
        subject.running.unwritten = file.write_late
        return None
    code = file.written()
    if log_bytecode:
        _write_listings(subject, transformed, code, dump, file.name)
        transformed.lines_of_bytecode = _lines_of_bytecode(subject.new_code, code, known)
    if not install:
        file.leave_code()
    return code if transformed.installed else None


def _lines_of_bytecode(
    new_code: types.CodeType, code: types.CodeType | None, known: Assumptions
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return which lines of two listings correspond, if the code of the file exists."""
    if code is None:
        return ()
    from depyf.torch.adapters.profiler_marks import without_marks
    from depyf.torch.capture.listed_lines import listed_lines

    return listed_lines(new_code, without_marks(new_code), code, known)


@dataclass(frozen=True, slots=True)
class _File:
    """The file of a compile's code, and its content."""

    subject: Subject
    transformed: Transformed
    decompiled: Proven
    dump: Dump
    name: str
    known: Assumptions

    def write(self) -> str:
        """Write the file; return its text."""
        text = annotated(self.transformed.module, _notes(self.subject))
        if self.dump.write(self.name, text):
            self.transformed.file = self.name
        else:
            self.transformed.installed = False
            self.transformed.reason = "its file could not be written"
        return text

    def write_late(self) -> None:
        """Write the file when the guards are known. If depyf fails, write what can be shown."""
        try:
            self.write()
        except Exception as error:
            write_without_source(self.subject, self.dump, error)
            raise
        self.leave_code()

    def written(self) -> types.CodeType | None:
        """Write the file; return the code compiled from it, or None if it is not the proven code."""
        text, path = self.write(), str(self.dump.directory / self.name)
        code = _compiled_from_file(self.subject, self.transformed, self.decompiled, text, path)
        transformed = self.transformed
        if transformed.file and not transformed.installed and transformed.level is not Level.UNPROVEN:
            self.dump.write(self.name, annotated(transformed.module, _notes(self.subject)))
        return code

    def leave_code(self) -> None:
        """Leave Dynamo's code in place, and record for `debug` how the file relates to it."""
        transformed, decompiled = self.transformed, self.decompiled
        if not transformed.installed:
            return
        new_code = self.subject.new_code
        function = None if new_code.co_name == "<lambda>" else decompiled.function
        names = {**decompiled.names, **transformed.names}
        path = self.dump.directory / self.name
        OF_FILE[new_code] = FileCode(path, function, decompiled.placeholders, names, decompiled.functions, self.known)
        transformed.installed, transformed.reason = False, ""  # It could run; that it is not exact is no reason.


def write_without_source(subject: Subject, dump: Dump, error: Exception) -> None:
    """Write what can be shown of code that depyf failed on: the facts, and Dynamo's bytecode as comments.

    Args:
        subject: the compile, its function, and both codes.
        dump: takes the file.
        error: the exception in depyf.
    """
    transformed = Transformed(
        instructions=len(subject.new_code.co_code) // 2,
        source="",
        module="",
        level=Level.UNPROVEN,
        reason=f"depyf failed: {type(error).__name__}: {error}",
        installed=False,
        file=_file_name(subject, dump),
    )
    subject.compile.transformed = transformed
    if not dump.write(transformed.file, comment_lines([*_header(subject), listing(subject.new_code)])):
        transformed.file = ""


def _file_name(subject: Subject, dump: Dump) -> str:
    part = file_part(subject.function.name)
    subject.compile.number = dump.numbers.next(f"__transformed_code_for_{part}")
    return f"__transformed_code_{subject.compile.number}_for_{part}.py"


def _compiled_from_file(
    subject: Subject, transformed: Transformed, decompiled: Proven, text: str, path: str
) -> types.CodeType | None:
    """Return the code of a file with the names of this process, or None if it is not the proven code."""
    if transformed.level is Level.UNPROVEN:
        return None
    from depyf.verify.candidate.recompile import is_same_but_for_lines, recompile

    code = recompile(
        text,
        subject.new_code,
        filename=path,
        placeholders=decompiled.placeholders,
        function=None if subject.new_code.co_name == "<lambda>" else decompiled.function,
        names={**decompiled.names, **transformed.names},
        functions=decompiled.functions,
        lets_go=decompiled.lets_go,
    )
    if decompiled.compiled is None or not is_same_but_for_lines(code, decompiled.compiled):
        transformed.installed = False
        transformed.reason = "the file does not compile to the code that was proven"
        return None
    return code


def _notes(subject: Subject) -> Notes:
    graphs = {}
    captured = [artefact for artefact in subject.compile.artefacts if artefact.stage == "Captured_Graph"]
    for name, artefact in zip(subject.compile.compiled_fns, captured, strict=False):
        number = compiled_fn_number(name)
        if number is not None:
            graphs[number] = user_lines(artefact.text)
    return Notes(
        header=tuple(_header(subject)),
        graphs=graphs,
        resumes={name: f"in the user's line {line}" for name, line in _resume_lines(subject).items()},
        breaks=tuple(subject.compile.breaks),
        effects=tuple(subject.compile.effects),
        filename=subject.function.filename,
    )


def _header(subject: Subject) -> list[str]:
    compiled = subject.compile
    subject.running.reason = _reason_line(subject.root, subject.running)
    place, proof = place_words(subject.function), f"proven: {proof_words(compiled)}"
    graphs = [artefact.file for artefact in compiled.artefacts if artefact.dialect is Dialect.GRAPH and artefact.file]
    files = [
        f"graph: {graphs[0]}" if graphs else "no graph: there was no tensor operation to compile",
        f"all entries: {subject.root.file}",
    ]
    lines = in_columns([place, subject.running.reason, proof])
    if isinstance(compiled.trigger, Recompile):
        lines = [*in_columns([place, proof]), subject.running.reason]
    lines += in_columns(files)
    resumed = resumption(subject.function, subject.root)
    if resumed is not None:
        kept = subject.function.parameters
        state = f", with {', '.join(kept)} as {'it was' if len(kept) == 1 else 'they were'}" if kept else ""
        lines.append(f"{subject.function.name}: {subject.root.name} from line {resumed.line} on{state}")
        lines += [line.removeprefix("# ") for line in marked_source(resumed)]
    lines += [f"{name}: {object_words(value)}" for name, value in subject.running.placeholders.items()]
    return lines


def _reason_line(root: Function, running: Running) -> str:
    """Return why a compile was made, as one replaceable line."""
    return f"compile {running.compile.id} ({' '.join(trigger_words(root, running.function, running.compile).split())})"


def write_reason(root: Function, running: Running, dump: Dump) -> None:
    """Write into the file of a compile why it was made, after the call was compared with the guards of all entries.

    Before that, the file has only the guard that torch names. No line of the file moves, because running code may be
    compiled from it.

    Args:
        root: the function, or the one that it resumes.
        running: the compile, with the reason that its file shows now.
        dump: has the file.
    """
    transformed, before, now = running.compile.transformed, running.reason, _reason_line(root, running)
    if isinstance(transformed, Transformed) and transformed.file and before != now:
        text = (dump.directory / transformed.file).read_text(encoding="utf-8")
        if dump.write(transformed.file, text.replace(comment_lines([before]), comment_lines([now]), 1)):
            running.reason = now


def _resume_lines(subject: Subject) -> dict[str, int]:
    """Return the user's line at which each resume function that the code calls continues."""
    lines = {}
    for name in subject.compile.resumes:
        offset = resume_offset(name)
        line = line_of_offset(subject.code, offset) if offset is not None else None
        if line is not None:
            lines[name] = line
    return lines


def _write_listings(
    subject: Subject, transformed: Transformed, code: types.CodeType | None, dump: Dump, name: str
) -> None:
    transformed.original_bytecode = listing(subject.code)
    transformed.transformed_bytecode = listing(subject.new_code)
    transformed.recompiled_bytecode = listing(code) if code is not None else ""
    stem = name.removesuffix(".py")
    dump.write(f"{stem}.original_bytecode", transformed.original_bytecode)
    dump.write(f"{stem}.transformed_bytecode", transformed.transformed_bytecode)
    back = transformed.recompiled_bytecode or f"Nothing was compiled back: {transformed.reason}\n"
    dump.write(f"{stem}.decompiled_and_compiled_back_bytecode", back)
