"""Short phrases that several views share."""

from __future__ import annotations

from depyf.findings.nearest import nearest_entry
from depyf.findings.reasons import reason_words
from depyf.model.counts import counted
from depyf.model.naming import is_of_wrapper
from depyf.model.run import (
    Artefact,
    Compile,
    Dialect,
    FirstCall,
    Function,
    NoCall,
    Recompile,
    Resume,
    Transformed,
)
from depyf.model.skips import plain_reason
from depyf.model.user_line import UserLine
from depyf.model.user_source import Resumption, is_foreign, is_generated, short_path


def trigger_words(root: Function, function: Function, compiled: Compile, rest: str = "in index.md") -> str:
    """Return why something was compiled; for a recompile, why the nearest entry refused the call.

    root: the function, or the one that it resumes.
    rest: where the other entries are described.
    """
    match compiled.trigger:
        case FirstCall(failed):
            return f"again, because compile {failed} failed" if failed else "first call"
        case NoCall(how):
            return how
        case Recompile() as trigger:
            entry, why = nearest_entry(function, compiled), reason_words(root, function, compiled)
            if entry is None:
                return f"recompile, {why}"
            untold = trigger.others.count if trigger.others is not None else 0
            others = len(entry.reasons) - 1 + entry.folded + entry.others + untold
            more = f" ({counted(others, 'more reason')} {rest})" if others else ""
            return f"recompile, {entry.entry}: {why}{more}"
        case Resume(caller):
            return f"continues after {caller}"


def in_columns(facts: list[str]) -> list[str]:
    """Return facts side by side in one line, or one below the other if the line would be too long."""
    together = "    ".join(facts)
    return [together] if len(together) <= 110 else facts


def place_words(function: Function) -> str:
    """Return the name and place of a function."""
    return f"{function.name}, {where_words(function)}"


def where_words(function: Function) -> str:
    """Return the place of a function; for code that is none of the program's, the line that led to its first compile.

    before: <eval_with_key>.7:4                        torch/_dynamo/external_utils.py:67
    after:  train.py:17, in generated code             train.py:17, first called here
    """
    call = first_call(function)
    if call is not None:
        note = "in generated code" if is_generated(function.filename) else "first called here"
        return f"{short_path(call.filename)}:{call.line}, {note}"
    return f"{short_path(function.filename)}:{function.first_line}"


def first_call(function: Function) -> UserLine | None:
    """Return the user's line that first called generated code or torch's wrapper of an object; None for other code."""
    if not function.compiles or not (is_generated(function.filename) or is_of_wrapper(function)):
        return None
    callers = (call for call in reversed(function.compiles[0].user_stack) if not is_foreign(call.filename))
    return next(callers, None)


def proof_words(compiled: Compile) -> str:
    """Return the level of proof of a compile's source, or why there is none."""
    transformed = compiled.transformed
    if not isinstance(transformed, Transformed):
        return f"none: {plain_reason(transformed.reason)}"
    if not transformed.is_runnable:
        return f"{transformed.level.name}, Dynamo's own bytecode runs: {transformed.reason}"
    return transformed.level.name


def backend_words(compiled: Compile) -> str:
    """Return the backend of a compile and the seconds that it took, as far as they are known, or "".

    A backend also took the time of the backward, if the compile has one.
    """
    backend_seconds = compiled.seconds.get("backend")
    backward = compiled.seconds.get("backward total", compiled.seconds.get("backward inductor", 0.0))
    spent = f"{backend_seconds + backward:.2f} s" if backend_seconds is not None else ""
    return ", ".join(part for part in (f"`{compiled.backend}`" if compiled.backend else "", spent) if part)


def resumption(function: Function, root: Function) -> Resumption | None:
    """Return where a resume function continues in the user's source, or None for the user's own function."""
    if function.resumes_at is None or function.break_line is None:
        return None
    return Resumption(root.source, root.first_line, function.break_line, function.resumes_at)


def graph_label(artefact: Artefact) -> str:
    """Return the short name of an artefact in a list of links."""
    number = f" {artefact.number}" if artefact.number or artefact.dialect is Dialect.KERNEL else ""
    return f"{artefact.stage}{number}" + (f" ({artefact.part})" if artefact.part else "")
