"""Why a function was recompiled, as one sentence that all views and the findings use.

guard failure: `L["self"].__dict__["n"]`, expected 3, got 4, needed by model.py:7 `if self.n > 2:`
sentence: the number `self.n` was 4, not 3; a branch or a loop depends on it
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from depyf.bytecode.records import dataclass
from depyf.findings.arguments import marked_at_call
from depyf.findings.callers import Call, is_at_own_line, own_call
from depyf.findings.catalogue.classify import kind_of_recompile, marked_dimensions, may_be_dynamic
from depyf.findings.catalogue.kind import Change, Kind, Place
from depyf.findings.catalogue.recompiles import (
    DEFAULTS,
    INSIDE,
    LEARNING_RATE,
    MADE_STATIC,
    NUMBER_MADE_STATIC,
    PARAMETER_SIZE,
    RATE_REPLACED,
    STATES,
    TENSORS,
    VALUES,
)
from depyf.findings.catalogue.sentences import advice_of, note_of, sentence_of
from depyf.findings.nearest import MODULES, PARAMETERS, guard_failures, independent, nearest_entry
from depyf.findings.sizes import PARAMETER_OF_PART, fix_without_mark
from depyf.findings.strides import advice_of_stride
from depyf.model.guard_failure import Check, GuardFailure, is_of_call
from depyf.model.naming import is_method, title
from depyf.model.reading_lines import reading_line
from depyf.model.run import Compile, Function, Recompile
from depyf.model.user_line import UserLine
from depyf.model.user_source import is_foreign

_SELF = 'L["args"][0]'
_WRAPPER, _WRAPPED = "torch/_dynamo/external_utils.py", 'L["fn"]'
"""The file of the function that torch compiles for a module of its own, such as `Sequential`, and its name for it."""
UNTOLD = "torch does not say why"


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason why an entry could not serve a call: its sentence, the fix, and where the value is needed.

    failure: the guard failure, with the value as the user's call names it.
    note: what the catalogue adds to the sentence, about recompiles that go on.
    place: the line that needs the value, for the end of the sentence.
    call: the user's call of a library function.
    """

    failure: GuardFailure
    kind: Kind
    sentence: str
    fix: str
    note: str = ""
    place: str = ""
    call: Call | None = None

    @property
    def cause(self) -> str:
        """Return the sentence, with the note."""
        return f"{self.sentence}; {self.note}" if self.note else self.sentence

    @property
    def words(self) -> str:
        """Return the sentence, with the line that needs the value."""
        return f"{self.cause}  ({self.place})" if self.place else self.cause


@dataclass(frozen=True, slots=True)
class EntryReasons:
    """Why an entry could not serve a call: each independent reason, and its consequences.

    is_nearest: whether this entry came nearest to serving the call.
    """

    entry: str
    reasons: tuple[Reason, ...]
    folded: tuple[Reason, ...]
    is_nearest: bool = False


def reason_of(
    root: Function,
    function: Function,
    compiled: Compile,
    failure: GuardFailure,
    kind: Kind | None = None,
    step: int = 0,
) -> Reason:
    """Return a guard failure as a sentence.

    Args:
        root: the function, or the one that it resumes.
        function: the function that was compiled again.
        compiled: the recompile.
        failure: the guard that failed.
        kind: the facts from other recompiles for the same value, for example growth by `step` from call to call.
        step: how much an integer grows from call to call; 0 if it does not.
    """
    kind = kind or kind_of_recompile(failure, function.parameters, root.source)
    call = own_call(function, compiled, failure)
    is_of_self = call is not None and failure.source.startswith(_SELF) and is_method(function)
    if function.filename.replace("\\", "/").endswith(_WRAPPER):
        failure = replace(failure, source=failure.source.replace(_WRAPPED, 'L["self"]'))
    if is_of_self:
        failure, call = replace(failure, source=failure.source.replace(_SELF, 'L["self"]')), None
    elif call is not None and call.value:
        failure = replace(failure, source=call.value)
    elif call is None and failure.line is None:
        failure = replace(failure, line=_reading_line(root, function, failure))
    kind = _at_call(kind, None if call is not None and is_at_own_line(compiled, failure) else call, failure)
    if kind.name == PARAMETER_SIZE.name and failure.source.startswith('L["self"]'):
        kind = replace(kind, note=f"{kind.note}, and all modules of a class share the code of `{title(function)}`")
    return Reason(
        failure,
        kind,
        sentence_of(kind, failure, step),
        _advice(root, function, compiled, failure, kind, step, is_at_call=call is None),
        note_of(kind, failure, step),
        place_words(failure.line, function),
        call,
    )


def _advice(
    root: Function,
    function: Function,
    compiled: Compile,
    failure: GuardFailure,
    kind: Kind,
    step: int,
    *,
    is_at_call: bool,
) -> str:
    """Return the fix of a reason; for a size, where the program calls the function, if no library does."""
    advice = advice_of(kind, failure, step)
    if kind.change is Change.FLOAT and compiled.is_static and advice:
        return f"{NUMBER_MADE_STATIC}; or {advice}"
    if kind is TENSORS[Check.STRIDE]:
        return advice_of_stride(failure, compiled) or advice
    if kind.name == PARAMETER_SIZE.name and MODULES in failure.source:
        return PARAMETER_OF_PART
    if kind is not TENSORS[Check.SIZE]:
        return advice
    without_mark = fix_without_mark(root, function, failure)
    if without_mark is not None:
        advice = without_mark
    elif is_at_call:
        advice = marked_at_call(root, function, compiled, failure, marked_dimensions(failure)) or advice
    if not compiled.is_static or not _may_be_dynamic(failure):
        return advice
    return MADE_STATIC if without_mark is not None else f"{MADE_STATIC}; or {advice}"


def _may_be_dynamic(failure: GuardFailure) -> bool:
    """Return whether torch could make a size that changed dynamic."""
    return any(may_be_dynamic(expected, actual) for _, expected, actual in failure.changed_dimensions)


def place_words(line: UserLine | None, function: Function) -> str:
    """Return a line for the end of a sentence, with the name of its file if that is not the function's own."""
    if line is None or not line.text:
        return ""
    file = "" if line.filename in ("", function.filename) else os.path.basename(line.filename)
    # The text of a statement of several lines ends within its brackets.
    cut = next((f"{line.text}...{end}" for start, end in ("()", "[]", "{}") if line.text.endswith(start)), line.text)
    return f"{file}:{line.line} {cut}"


def failure_words(failure: GuardFailure, function: Function) -> str:
    """Return a guard failure in one line, with the expected and the actual value and the line that needs the value."""
    place = place_words(failure.line, function)
    return f"{failure.words}  ({place})" if place else failure.words


def _reading_line(root: Function, function: Function, failure: GuardFailure) -> UserLine | None:
    """Return the line of the function that reads a value, or None."""
    if is_of_call(failure) or is_foreign(function.filename):
        return None
    line = reading_line(failure.subject, root.source, (function.resumes_at or root.first_line) - root.first_line)
    if line is None:
        return None
    return UserLine(function.filename, root.first_line + line, root.source.splitlines()[line].strip(), function.name)


def _at_call(kind: Kind, call: Call | None, failure: GuardFailure) -> Kind:
    """Return the kind of a cause, with its fix. A value that the user's call does not show cannot be changed there."""
    if call is not None and call.value and kind.place is Place.ELEMENT and kind.change is not None:
        # A value in the library's `*args` or `**kwargs` is an argument of the user's call.
        return VALUES[Place.ARGUMENT, kind.change]
    if kind.name == TENSORS[Check.TYPE].name and PARAMETERS in failure.source:
        return replace(kind, fix="replace `{subject}` before the first call")
    if (
        call is None
        or call.value
        or kind.is_expected
        or kind in (LEARNING_RATE, RATE_REPLACED, DEFAULTS)
        or kind in STATES.values()
    ):
        # A function that is defined again is the user's own, whatever the library calls its argument.
        return kind
    return INSIDE if kind.name == TENSORS[Check.SIZE].name else replace(kind, fix="")


def reasons(root: Function, function: Function, compiled: Compile) -> tuple[Reason, ...]:
    """Return the reasons why the nearest entry could not serve the call that caused a compile. The first one counts.

    Args:
        root: the function, or the one that it resumes.
        function: the function that was compiled again.
        compiled: the compile, with the failed guards of its trigger.
    """
    entry = nearest_entry(function, compiled)
    return tuple(reason_of(root, function, compiled, failure) for failure in entry.reasons) if entry is not None else ()


def entry_reasons(
    root: Function,
    function: Function,
    compiled: Compile,
    kinds: Mapping[tuple[int, str], Kind] = MappingProxyType({}),
    but: Collection[str] = (),
) -> Iterator[EntryReasons]:
    """Yield why each known entry could not serve a call: the nearest first, then the newest first.

    Args:
        root: the function, or the one that it resumes.
        function: the function that was compiled again.
        compiled: the compile, with the failed guards of its trigger.
        kinds: the facts about each cause from all recompiles, by order and value. It determines the fix.
        but: entries that are shown elsewhere.
    """
    if not isinstance(compiled.trigger, Recompile):
        return

    def say(failure: GuardFailure) -> Reason:
        kind, reason = kinds.get((compiled.order, failure.subject)), reason_of(root, function, compiled, failure)
        return reason if kind is None else replace(reason, fix=reason_of(root, function, compiled, failure, kind).fix)

    first = nearest_entry(function, compiled)
    entries = [entry for entry in reversed(compiled.trigger.entries) if entry.entry not in but]
    for entry in sorted(entries, key=lambda entry: first is None or entry.entry != first.entry):
        failures = guard_failures(entry)
        causes = list(independent(failures))
        folded = _distinct(say(failure) for failure in failures if failure not in causes)
        is_nearest = first is not None and entry.entry == first.entry
        yield EntryReasons(entry.entry, _distinct(map(say, causes)), folded, is_nearest)


def alike(function: Function, compiled: Compile) -> tuple[tuple[str, GuardFailure], ...]:
    """Return the entries, oldest first, that failed only for the value that the nearest entry failed for.

    Their sentences differ only in the value. A single one has its own sentence.
    """
    first = nearest_entry(function, compiled)
    if first is None or first.folded or len(first.reasons) != 1 or not isinstance(compiled.trigger, Recompile):
        return ()
    (reason,) = first.reasons
    others = [(entry.entry, guard_failures(entry)) for entry in compiled.trigger.entries if entry.entry != first.entry]
    single = [(entry, failures[0]) for entry, failures in others if len(failures) == 1]
    same = [
        (entry, failure)
        for entry, failure in single
        if failure.has_values and (failure.source, failure.check) == (reason.source, reason.check)
    ]
    return tuple(same) if len(same) > 1 else ()


def _distinct(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Return reasons without those whose sentence occurred before."""
    return tuple({reason.words: reason for reason in reasons}.values())


def reason_words(root: Function, function: Function, compiled: Compile) -> str:
    """Return why a function was recompiled, in the words that all views use.

    Args:
        root: the function, or the one that it resumes.
        function: the function that was compiled again.
        compiled: the compile, with the failed guards of its trigger.
    """
    first = next(iter(reasons(root, function, compiled)), None)
    return first.words if first is not None else UNTOLD
