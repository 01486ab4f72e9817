"""The files about a whole run, written at the end of the context, and about a running program."""

from __future__ import annotations

from depyf.findings import findings
from depyf.model.index_json import index_json
from depyf.model.run import Function, GuardSet, Session, Transformed
from depyf.model.writer import INDEX
from depyf.torch.capture.earlier import EarlierEntries
from depyf.torch.capture.recorder import Running
from depyf.torch.dump.problems import Problems
from depyf.torch.guards.full_code import CompiledEntry, CompiledFunction, render_full_code
from depyf.trace.directory import Dump
from depyf.views.index_markdown import index_markdown
from depyf.views.words import proof_words


def write_views(
    session: Session, compiles: list[Running], earlier: EarlierEntries, dump: Dump, problems: Problems
) -> None:
    """Write the full code of each root function and the index. If a view fails, the others are still written.

    Args:
        session: the run.
        compiles: the compiles of the context.
        earlier: the entries from before the context.
        dump: takes the files.
        problems: takes the errors of views.
    """
    by_function: dict[str, list[Running]] = {}
    for running in compiles:
        by_function.setdefault(running.function.key, []).append(running)
    for root in session.roots():
        if root.key in by_function and root.file:
            with problems.contained(f"writing {root.file}"):
                _write_full_code(session, root, by_function, earlier, dump)
    session.findings = None
    with problems.contained("looking for findings"):
        session.findings = findings(session)
    with problems.contained(f"writing {INDEX}"):
        dump.write(INDEX, dump.without_directory(index_json(session, findings(session))))
    with problems.contained("writing index.md"):
        dump.write("index.md", dump.without_directory(index_markdown(session)))
    if not session.ended:
        session.findings = None


def _write_full_code(
    session: Session, root: Function, compiles: dict[str, list[Running]], earlier: EarlierEntries, dump: Dump
) -> None:
    """Write `full_code_for_*.py`; discard its name if nothing of the function was compiled at the end."""
    functions = []
    for part in (root, *session.resumes_of(root)):
        compiled_function = _compiled_function(part, root, compiles.get(part.key, []), earlier)
        functions += [compiled_function] if compiled_function is not None else []
    is_there = bool(functions) and dump.write(root.file, render_full_code(functions).text)
    if session.ended and not is_there:
        root.file = ""


def _compiled_function(
    function: Function, root: Function, compiles: list[Running], earlier: EarlierEntries
) -> CompiledFunction | None:
    """Return a function with its entries, or None if Dynamo never made code for it."""
    entries = [entry for entry in map(_compiled_entry, compiles) if entry is not None]
    codes = [running.code for running in compiles if running.code is not None]
    if not entries or not codes:
        return None
    return CompiledFunction(
        name=function.name,
        code=codes[0],
        filename=function.filename,
        first_line=root.first_line,
        source=root.source,
        entries=[*earlier.of(compiles), *entries],
        resume_name=function.resume_name,
        resumes_at=function.resumes_at,
        other_names=function.other_resume_names,
    )


def _compiled_entry(running: Running) -> CompiledEntry | None:
    compiled = running.compile
    if running.guards is None or not isinstance(compiled.transformed, Transformed):
        return None
    captured = [artefact for artefact in compiled.artefacts if artefact.stage == "Captured_Graph"]
    return CompiledEntry(
        compile_id=str(compiled.id.of_torch),
        guards=running.guards,
        source=compiled.transformed.module if compiled.transformed.is_runnable else "",
        source_name=compiled.name,
        proof=proof_words(compiled),
        differs=compiled.guards.differs if isinstance(compiled.guards, GuardSet) else "",
        graphs={name: artefact.file for name, artefact in zip(compiled.compiled_fns, captured, strict=False)},
        placeholders=running.placeholders,
        names=compiled.transformed.names,
    )
