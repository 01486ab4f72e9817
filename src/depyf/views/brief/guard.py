"""Explain one guard of a compile: what it checks, which line needs it, and which calls it refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from depyf.findings.catalogue.kind import Kind
from depyf.findings.causes import kinds
from depyf.findings.reasons import entry_reasons
from depyf.model.index_reader import Run
from depyf.model.run import Compile, Function, Guard, GuardSet, Recompile
from depyf.model.spelling import spelled
from depyf.views.brief.answer import Question, UnknownIdError, frame_of
from depyf.views.brief.fitted import Json

MOST_KNOWN = 40
"""Compiles that a message names."""


def guard_explained(question: Question, compile_id: str, wanted: str) -> str:
    """Return JSON that explains guards of a compile.

    Args:
        question: the runs, and the budget of the answer.
        compile_id: the id of the compile.
        wanted: the number of a guard, from 1, or a part of its text, or of the value as the user writes it.

    Raises:
        UnknownIdError: there is no such compile or guard.
    """
    pairs = [(run, compiled) for _, run, _, compiled in question.compiles()]
    run, compiled = next((pair for pair in pairs if str(pair[1].id) == compile_id), (None, None))
    if run is None or compiled is None:
        known = ", ".join(str(compiled.id) for _, compiled in pairs[:MOST_KNOWN])
        raise UnknownIdError(f"there is no compile {compile_id!r}; there is {known or 'none'}")
    if not isinstance(compiled.guards, GuardSet):
        raise UnknownIdError(f"compile {compile_id} has no guards: {compiled.guards.reason}")
    guards = compiled.guards.guards
    matching = [(number, guard) for number, guard in enumerate(guards, start=1) if _is_meant(number, guard, wanted)]
    if not matching:
        raise UnknownIdError(f"none of the {len(guards)} guards of {compile_id} is or has {wanted!r} in it")
    frame = frame_of(question, "guard", compile=compile_id, of=len(guards))
    shown = frame.fill("guards", (_explained(number, guard) for number, guard in matching), at_least_one=True)
    sources = {guard.source for _, guard in matching}
    frame.fill("refused", _refusals(run, compile_id, sources))
    frame.end("rest", [f"{len(matching) - shown} more guards match"] if shown < len(matching) else [])
    return frame.text


def _is_meant(number: int, guard: Guard, wanted: str) -> bool:
    if wanted.isdigit():
        return int(wanted) == number
    return wanted in guard.clause or wanted in guard.source or wanted in spelled(guard.source)


def _explained(number: int, guard: Guard) -> Json:
    where = guard.where
    needed = f"{where.filename}:{where.line}: {where.text}" if where is not None else "torch names no line"
    return {
        "number": number,
        "value": spelled(guard.source),
        "condition": spelled(guard.clause),
        "kind": guard.kind,
        "needed_by": needed,
    }


def _refusals(run: Run, compile_id: str, sources: set[str]) -> Iterator[Json]:
    """Yield the calls that guards on these values refused, each with what differed, and a fix where it changes."""
    fixes, before = kinds(run.session), ""
    for function, compiled in run.session.compiles():
        for refusal in _refused_by(run, function, compiled, compile_id, sources, fixes):
            fix = refusal.pop("fix")
            yield {**refusal, "fix": fix} if fix != before else refusal
            before = fix


def _refused_by(
    run: Run,
    function: Function,
    compiled: Compile,
    compile_id: str,
    sources: set[str],
    fixes: Mapping[tuple[int, str], Kind],
) -> Iterator[Json]:
    if not isinstance(compiled.trigger, Recompile):
        return
    for entry in entry_reasons(run.session.functions[function.root], function, compiled, fixes):
        for reason in (*entry.reasons, *entry.folded) if entry.entry == compile_id else ():
            if reason.failure.source in sources:
                yield {"made": str(compiled.id), "because": reason.words, "fix": reason.fix}
