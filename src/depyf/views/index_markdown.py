"""`index.md`: the run on one page, in order, with links to every file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from depyf.findings import Finding, findings
from depyf.findings.events import limited
from depyf.findings.reasons import alike, entry_reasons
from depyf.links.line_states import line_states
from depyf.model.archive import ARCHIVE
from depyf.model.bypass import COMPILATION, Way
from depyf.model.counts import breaks_of, counted, guard_count
from depyf.model.cuda_graphs import words
from depyf.model.naming import title
from depyf.model.phases import duration, summed
from depyf.model.run import Artefact, Compile, Dialect, Function, GraphBreak, Recompile, Resume, Session, Transformed
from depyf.model.skips import Whose, skips
from depyf.model.spelling import spelled
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_library_file, resumption_words, short_path
from depyf.views.words import backend_words, graph_label, proof_words, resumption, trigger_words, where_words

NOTHING_SEEN = """\
Nothing was compiled while the context was active. Usual reasons:

- The function was compiled before: enter `prepare_debug` before its first call, or call `torch.compiler.reset()`.
- Nothing that is compiled was called inside the context. A method of a compiled module, such as `compiled.generate()`,
  calls the original module.
- `module.compile()` compiles only classes of the program: Dynamo skips the `forward` of torch's own, such as that of
  `nn.Sequential`. `torch.compile(module)` compiles it.
- Compilation is switched off: `TORCH_COMPILE_DISABLE=1`, `torch._dynamo.config.disable`, or a `force_eager` stance.
"""


COUNTED_AGAIN = "\n`{}`: Dynamo was reset, and torch counts its compiles from 0 for the {} time.\n"


def index_markdown(session: Session) -> str:
    """Return the text of `index.md`."""
    pairs = list(session.compiles())
    parts = [_summary(session, pairs), _findings(findings(session))]
    if pairs:
        parts += [
            _compiles(session, pairs),
            _recompiles(session, pairs),
            _breaks(pairs),
            _failures(pairs),
            _failed_calls(pairs),
            _files(session, pairs),
        ]
    else:
        parts.append(_nothing_seen(session))
    parts += [_lines(session), _cuda_graphs(pairs), _skipped(session), _gone(pairs), _earlier(session)]
    parts += [_loose(session), _times(pairs), _unavailable(session), _problems(session)]
    return "\n".join(part for part in parts if part)


def _nothing_seen(session: Session) -> str:
    """Return why nothing was compiled: the calls that bypassed compiled code if there are any, else usual reasons."""
    if COMPILATION in session.unavailable:
        return f"Nothing was compiled while the context was active: {session.unavailable[COMPILATION]}.\n"
    calls = [(bypass, times) for bypass, times in session.bypassed.items() if bypass.way in (Way.METHOD, Way.STANCE)]
    if not calls:
        return NOTHING_SEEN
    rows = [
        f"- {counted(times, 'call')} of `{bypass.what}`{_at(bypass.where)} "
        + (
            f"ran under the stance `{bypass.detail}`"
            if bypass.way is Way.STANCE
            else f"ran the method of the original module, `{bypass.about}`: `torch.compile(module)` compiles only "
            "calls of the module"
        )
        for bypass, times in calls
    ]
    return "\n".join(["Nothing was compiled while the context was active:", "", *rows, ""])


def _at(where: UserLine | None) -> str:
    return f" at {short_path(where.filename)}:{where.line}" if where is not None else ""


def _summary(session: Session, pairs: list[tuple[Function, Compile]]) -> str:
    roots = session.roots()
    recompiles = sum(isinstance(compiled.trigger, Recompile) for _, compiled in pairs)
    failed = sum(compiled.failure is not None for _, compiled in pairs)
    total = sum(duration(compiled.seconds) for _, compiled in pairs)
    inductor = sum(
        compiled.seconds.get(part, 0.0) for _, compiled in pairs for part in ("inductor", "backward inductor")
    )
    spent = f"{total:.1f} s" + (f", of which {inductor:.1f} s Inductor" if inductor else "")
    counts = ", ".join(
        [
            f"{counted(len(pairs), 'compile')} of {counted(len(roots), 'function')}",
            str(breaks_of(compiled for _, compiled in pairs)),
            counted(recompiles, "recompile"),
            f"{counted(failed, 'frame')} given up",
        ]
    )
    versions = f"torch {session.torch_version}, Python {session.python_version}"
    beside = f"\nOther processes also wrote here: [{session.beside}]({session.beside})\n" if session.beside else ""
    return f"# What torch.compile made\n\n{counts}; {spent}\n\n{versions}\n{beside}"


def _findings(ordered_findings: tuple[Finding, ...]) -> str:
    """Return the section of the findings."""
    lines = [
        f"{number}. **{finding.severity}**: {finding.line}" for number, finding in enumerate(ordered_findings, start=1)
    ]
    return "## Findings\n\n" + "\n".join(lines) + "\n" if lines else ""


def _compiles(session: Session, pairs: list[tuple[Function, Compile]]) -> str:
    rows = ["| compile | function | trigger | ops | guards | hits | s | backend | proof |", f"|{'---|' * 9}"]
    for function, compiled in pairs:
        seconds = duration(compiled.seconds) if "total" in compiled.seconds else None
        cells = [
            _link(str(compiled.id), compiled.transformed.file if isinstance(compiled.transformed, Transformed) else ""),
            _what(session, function),
            _why(session, function, compiled),
            _number(compiled.op_count),
            _number(guard_count(compiled)),
            _number(compiled.hits),
            f"{seconds:.2f}" if seconds is not None else "",
            backend_words(compiled),
            proof_words(compiled) if compiled.failure is None else "given up",
        ]
        rows.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    times = max(compiled.id.count for _, compiled in pairs)
    again = COUNTED_AGAIN.format(*(("#2", "second") if times == 2 else ("#n", "n-th"))) if times > 1 else ""
    return "## Compiles\n\n" + "\n".join(rows) + "\n" + again


def _what(session: Session, function: Function) -> str:
    root = session.functions[function.root]
    resumed = resumption(function, root)
    if resumed is None:
        return f"{title(function)}, {where_words(function)}"
    return f"{title(root)} {resumption_words(resumed)}"


def _why(session: Session, function: Function, compiled: Compile) -> str:
    if isinstance(compiled.trigger, Resume) and function.break_line is not None:
        return f"{compiled.trigger.caller} broke at :{function.break_line}"
    return trigger_words(session.functions[function.root], function, compiled, rest="below")


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _link(text: str, target: str) -> str:
    return f"[{text}]({target})" if target else text


def _recompiles(session: Session, pairs: list[tuple[Function, Compile]]) -> str:
    lines = []
    for function, compiled in pairs:
        if isinstance(compiled.trigger, Recompile):
            lines.append(f"- compile {compiled.id} of {title(function)}")
            lines += _entries(session.functions[function.root], function, compiled)
            if compiled.trigger.others is not None:
                lines.append(f"  - {compiled.trigger.others}")
            if compiled.contrast is not None and compiled.contrast.respects:
                lines.append(f"  - how its guards differ from those of {compiled.contrast.entry}:")
                lines += _bounded("    - ", list(map(spelled, compiled.contrast.respects)))
    return "## Recompiles\n\n" + "\n".join(lines) + "\n" if lines else ""


def _entries(root: Function, function: Function, compiled: Compile) -> Iterator[str]:
    """Yield why each entry refused. Of many entries, those further from the call than the nearest are counted."""
    same = alike(function, compiled)
    failed = list(entry_reasons(root, function, compiled, but={entry for entry, _ in same}))
    others = [entry for entry in failed if not entry.is_nearest]
    count = sum(len(entry.reasons) + len(entry.folded) for entry in others)
    for entry in failed:
        if count <= MOST_LINES or entry.is_nearest:
            texts = [reason.words for reason in entry.reasons]
            texts += [f"{reason.words}: it follows" for reason in entry.folded]
            yield from _bounded(f"  - entry {entry.entry} refused: ", texts)
    if count > MOST_LINES:
        entries = sorted(entry.entry for entry in others)
        those = f"entries {entries[0]} to {entries[-1]}" if len(entries) > 1 else f"entry {entries[0]}"
        yield f"  - {those} refused, too, for {count} reasons, in `index.json`"
    if same:
        values = ", ".join(dict.fromkeys(failure.expected for _, failure in same))
        expected = f", and expected {values}" if len(values) <= MOST_VALUES else "; `index.json` has the values"
        yield f"  - entries {same[0][0]} to {same[-1][0]} refused the same value{expected}"


MOST_VALUES = 240
"""The most characters of the values that several entries expected."""
MOST_LINES = 12
"""The most lines of a list; the rest is only in `index.json`, because entries may differ in hundreds of guards."""


def _bounded(before: str, texts: Sequence[str]) -> list[str]:
    shown = [before + text for text in texts[:MOST_LINES]]
    return shown if len(texts) <= MOST_LINES else [*shown, f"{before}{len(texts) - MOST_LINES} more, in `index.json`"]


def _breaks(pairs: list[tuple[Function, Compile]]) -> str:
    """Return the section of graph breaks: each place once, with all compiles that broke there."""
    places: dict[tuple[str, UserLine | None], tuple[GraphBreak, list[str]]] = {}
    for _, compiled in pairs:
        for graph_break in compiled.breaks:
            places.setdefault((graph_break.reason, graph_break.where), (graph_break, []))[1].append(str(compiled.id))
    lines = []
    for number, (graph_break, compiles) in enumerate(places.values(), start=1):
        code = f" ({graph_break.code})" if graph_break.code else ""
        place = (
            f"{short_path(graph_break.where.filename)}:{graph_break.where.line}  `{graph_break.where.text}`  "
            if graph_break.where
            else ""
        )
        lines.append(f"{number}. {place}{graph_break.reason.rstrip('.')}{code}; {_in_compiles(compiles)}.")
        # Nobody can follow a hint such as "Remove the call" in the code of a library.
        is_own = graph_break.where is None or not is_library_file(graph_break.where.filename)
        lines += [f"   - {hint}" for hint in graph_break.hints if is_own or not hint.startswith("Remove the `torch.")]
    return "## Graph breaks\n\n" + "\n".join(lines) + "\n" if lines else ""


def _in_compiles(compiles: list[str]) -> str:
    return f"compile{'s' if len(compiles) > 1 else ''} {', '.join(compiles)}"


def _failures(pairs: list[tuple[Function, Compile]]) -> str:
    lines = []
    for function, compiled in pairs:
        if compiled.failure is not None:
            place = where_words(function)
            reason = compiled.failure.reason.strip().split("\n", 1)[0]
            raised = "; the call raised this error" if compiled.failure.raised else ""
            lines.append(
                f"- {title(function)}, {place} (compile {compiled.id}): {compiled.failure.kind}: {reason}{raised}"
            )
            lines += [f"  - caused by {cause}" for cause in compiled.failure.causes]
    return "## Frames that Dynamo gave up\n\n" + "\n".join(lines) + "\n" if lines else ""


def _failed_calls(pairs: list[tuple[Function, Compile]]) -> str:
    """Return the section on exceptions that the code of a backend raised in calls."""
    rows = []
    for function, compiled in pairs:
        for call_failure in compiled.call_failures:
            failure = call_failure.failure
            calls = counted(call_failure.times, "call")
            rows.append(
                f"- {calls} of {title(function)} (compile {compiled.id}){_at(failure.where)}, "
                f"in {failure.phase}: {failure.kind}: {failure.summary}"
            )
            rows += [f"  - caused by {cause}" for cause in failure.causes]
    return "\n".join(["## Calls in which compiled code raised an exception", "", *rows, ""]) if rows else ""


def _files(session: Session, pairs: list[tuple[Function, Compile]]) -> str:
    lines = []
    for root in session.roots():
        what = "guards, entries and dispatch" if root.file else _without_code(root)
        lines.append(f"- {_link(title(root), root.file)}: {what}")
        for function, compiled in pairs:
            if function.root == root.key:
                lines += _files_of(compiled, session.packed)
    packed = f"\n{PACKED}\n" if session.packed else ""
    return "## Files\n\n" + "\n".join(lines) + "\n" + packed


def _without_code(root: Function) -> str:
    """Return what happened to a function without compiled code."""
    failures = [compiled.failure for compiled in root.compiles if compiled.failure is not None]
    is_raised = bool(failures) and all(failure.raised for failure in failures)
    return "no code: the call raised" if is_raised else "it runs uncompiled"


PACKED = f"""\
This dump is large. The files that are seldom opened are in [{ARCHIVE}]({ARCHIVE}). depyf reads them from there;
`tar xf {ARCHIVE}` unpacks them. `depyf run --all` and `prepare_debug(..., all_files=True)` leave all files in place."""


def _files_of(compiled: Compile, packed: Set[str]) -> list[str]:
    lines = []
    if isinstance(compiled.transformed, Transformed) and compiled.transformed.file:
        lines.append(f"  - compile {compiled.id}: {_link('the code that runs', compiled.transformed.file)}")
    else:
        lines.append(f"  - compile {compiled.id}: no code")
    lines += _artefact_lines(compiled.artefacts, packed)
    return lines


def _artefact_lines(written: Iterable[Artefact], packed: Set[str]) -> list[str]:
    artefacts = [artefact for artefact in written if artefact.file and artefact.file not in packed]
    archived = [f"`{artefact.file}`" for artefact in written if artefact.file in packed]
    lines = []
    for heading, dialects in (
        ("graphs", (Dialect.GRAPH,)),
        ("kernels", (Dialect.KERNEL, Dialect.CPP)),
        ("AOTAutograd's wrappers", (Dialect.PYTHON,)),
        ("other", (Dialect.TEXT, Dialect.JSON)),
    ):
        links = [_link(graph_label(artefact), artefact.file) for artefact in artefacts if artefact.dialect in dialects]
        if links:
            lines.append(f"    - {heading}: {', '.join(links)}")
    return [*lines, f"    - in {ARCHIVE}: {', '.join(archived)}"] if archived else lines


def _lines(session: Session) -> str:
    """Return the section on how much of the user's functions runs in graphs, with a count of library functions."""
    all_lines = line_states(session)
    users_lines = [function_lines for function_lines in all_lines if not is_library_file(function_lines.filename)]
    limits = [function for function in session.functions.values() if limited(function)]
    rows = [
        f"- {function_lines.words}{' until the limit was reached' if any(map(function_lines.is_of, limits)) else ''}, "
        f"{short_path(function_lines.filename)}:{function_lines.first_line}"
        for function_lines in users_lines
    ]
    if len(all_lines) > len(users_lines):
        rows.append(
            f"- {counted(len(all_lines) - len(users_lines), 'function')} of libraries; `index.json` has the lines"
        )
    return "\n".join(["## Lines that run in graphs", "", *rows, ""]) if rows else ""


def _cuda_graphs(pairs: list[tuple[Function, Compile]]) -> str:
    """Return the section on CUDA graphs, one line for each compile."""
    rows = [
        f"- compile {compiled.id} of {title(function)}: {'; '.join(words(compiled.cuda_graphs))}"
        for function, compiled in pairs
        if compiled.cuda_graphs
    ]
    return "\n".join(["## CUDA graphs", "", *rows, ""]) if rows else ""


def _earlier(session: Session) -> str:
    """Return the section on compiled code that ran but has no files."""
    if not session.earlier:
        return ""
    rows = [
        f"- {name}, {short_path(filename)}:{line} served {counted(hits, 'call')}"
        for (name, filename, line), hits in session.earlier.items()
    ]
    advice = "It has no files here. Enter `prepare_debug` before its first call, or call `torch.compiler.reset()`."
    return "\n".join(["## Compiled before the context was entered", "", *rows, "", advice, ""])


def _skipped(session: Session) -> str:
    """Return the section on skipped frames: the user's frames, and a count of the others."""
    given_up = {(function.name, function.filename) for _, function in _with_failures(session)}
    rows, others = [], Counter[Whose]()
    for skip in skips(session):
        if (skip.name, skip.filename) in given_up:
            continue
        if skip.whose is Whose.OWN:
            often = f" ({skip.times} times)" if skip.times > 1 else ""
            rows.append(f"- {skip.what}, {short_path(skip.filename)}: {skip.reason}{often}")
        else:
            others[skip.whose] += 1
    rows += [f"- {counted(number, 'frame')} {whose.value}; `index.json` has them" for whose, number in others.items()]
    return "\n".join(["## Frames that Dynamo skipped", "", *rows, ""]) if rows else ""


def _with_failures(session: Session) -> list[tuple[Function, Compile]]:
    return [pair for pair in session.compiles() if pair[1].failure is not None]


def _gone(pairs: list[tuple[Function, Compile]]) -> str:
    """Return the section on entries that no longer exist."""
    rows = [
        f"- compile {compiled.id} of {title(function)}: {compiled.gone}"
        for function, compiled in pairs
        if compiled.gone
    ]
    return "\n".join(["## Entries that no longer exist", "", *rows, ""]) if rows else ""


def _loose(session: Session) -> str:
    lines = _artefact_lines(session.loose, session.packed)
    if not lines:
        return ""
    return "## Outside any compiled frame\n\n" + "\n".join(line.removeprefix("    ") for line in lines) + "\n"


def _times(pairs: list[tuple[Function, Compile]]) -> str:
    """Return the section of the seconds of each phase: of each compile, and of all compiles together."""
    timed = [compiled for _, compiled in pairs if duration(compiled.seconds)]
    rows = [f"- compile {compiled.id}: {_phases([compiled])}" for compiled in timed]
    rows += [f"- all {len(timed)} compiles: {_phases(timed)}"] if len(timed) > 1 else []
    return "## Seconds per phase\n\n" + "\n".join(rows) + "\n" if rows else ""


def _phases(compiles: list[Compile]) -> str:
    total = sum(duration(compiled.seconds) for compiled in compiles)
    parts = summed(compiled.seconds for compiled in compiles)
    return f"{total:.3f}: " + ", ".join(f"{name} {seconds:.3f}" for name, seconds in parts.items())


def _unavailable(session: Session) -> str:
    lines = [f"- {seam}: {reason}" for seam, reason in sorted(session.unavailable.items())]
    return "## What this torch and this Python do not provide\n\n" + "\n".join(lines) + "\n" if lines else ""


def _problems(session: Session) -> str:
    lines = [f"- {problem.where}: {problem.message}" for problem in session.problems]
    return "## Errors inside depyf\n\n" + "\n".join(lines) + "\n" if lines else ""
