"""Why a function was recompiled, as one sentence that all views and the findings use.

refusal: `L["self"].__dict__["n"]: expected 3, got 4  (model.py:7 if self.n > 2:)`
sentence: the number `self.n` was 4, not 3; a branch or a loop depends on it
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from depyf.bytecode.records import dataclass
from depyf.findings.callers import Call, is_foreign, own_call
from depyf.findings.catalogue.kind import Kind
from depyf.findings.catalogue.recompiles import INSIDE, LEARNING_RATE, STATES, VALUES
from depyf.findings.catalogue.refusals import advice_of, filled, kind_of_recompile
from depyf.findings.nearest import independent, nearest
from depyf.findings.reading_lines import reading_line
from depyf.model.naming import is_method
from depyf.model.refused import Refused, is_of_call, refused
from depyf.model.run import Compile, Function, Recompile

_SELF = 'L["args"][0]'
UNTOLD = "torch does not say why"


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason why an entry refused a call: its sentence, the fix, and where the value is needed.

    found: the refusal, with the value as the user's call names it.
    call: the user's call of a library function.
    """

    found: Refused
    kind: Kind
    cause: str
    fix: str
    call: Call | None = None

    @property
    def words(self) -> str:
        """Return the sentence, with the line that needs the value."""
        return f"{self.cause}  ({self.found.where})" if self.found.where else self.cause


@dataclass(frozen=True, slots=True)
class Refusing:
    """The refusals of an entry: each independent reason, and its consequences.

    is_nearest: whether this entry came nearest to serving the call.
    """

    entry: str
    reasons: tuple[Reason, ...]
    folded: tuple[Reason, ...]
    is_nearest: bool = False


def reason_of(
    root: Function, function: Function, compiled: Compile, found: Refused, kind: Kind | None = None, step: int = 0
) -> Reason:
    """Return a refusal as a sentence.

    root: the function, or the one that it resumes.
    kind: the facts from other recompiles for the same value, for example growth by `step` from call to call.
    """
    kind = kind or kind_of_recompile(found, function.parameters, root.source)
    call = own_call(function, compiled, found)
    is_of_self = call is not None and found.source.startswith(_SELF) and is_method(function)
    if is_of_self:
        found, call = replace(found, source=found.source.replace(_SELF, 'L["self"]')), None
    elif call is not None and call.value:
        found = replace(found, source=call.value)
    elif call is None and not found.where:
        found = replace(found, where=_read_at(root, function, found))
    kind = _at_call(kind, call)
    return Reason(found, kind, filled(kind.cause, found, step), advice_of(kind, found, step), call)


def _read_at(root: Function, function: Function, found: Refused) -> str:
    """Return the line of the function that reads a value, in the format of torch's guards."""
    if is_of_call(found) or is_foreign(function.filename):
        return ""
    line = reading_line(found.subject, root.source, (function.resumes_at or root.first_line) - root.first_line)
    return f":{root.first_line + line} {root.source.splitlines()[line].strip()}" if line is not None else ""


def _at_call(kind: Kind, call: Call | None) -> Kind:
    """Return the kind of a cause, with its fix. A value that the user's call does not show cannot be changed there."""
    if call is not None and call.value and kind.name.startswith("element-"):
        # A value in the library's `*args` or `**kwargs` is an argument of the user's call.
        return VALUES["argument", kind.name.removeprefix("element-")]
    if call is None or call.value or kind.is_expected or kind is LEARNING_RATE or kind in STATES.values():
        return kind
    return INSIDE if kind.name == "tensor-size" else replace(kind, fix="")


def reasons(root: Function, function: Function, compiled: Compile) -> tuple[Reason, ...]:
    """Return the reasons why the nearest entry refused the call that caused a compile. The first one counts."""
    told = nearest(compiled.trigger) if isinstance(compiled.trigger, Recompile) else None
    return tuple(reason_of(root, function, compiled, each) for each in told.reasons) if told is not None else ()


def refusing(
    root: Function,
    function: Function,
    compiled: Compile,
    kinds: Mapping[tuple[int, str], Kind] = MappingProxyType({}),
    but: Collection[str] = (),
) -> Iterator[Refusing]:
    """Yield the refusals of each known entry: the nearest first, then the newest first.

    kinds: the facts about each cause from all recompiles, by order and value. It determines the fix.
    but: entries that are shown elsewhere.
    """
    if not isinstance(compiled.trigger, Recompile):
        return

    def say(each: Refused) -> Reason:
        kind, said = kinds.get((compiled.order, each.subject)), reason_of(root, function, compiled, each)
        return said if kind is None else replace(said, fix=reason_of(root, function, compiled, each, kind).fix)

    told = nearest(compiled.trigger)
    found = [(each.entry, refused(each)) for each in reversed(compiled.trigger.refusals) if each.entry not in but]
    for entry, all_of in sorted(found, key=lambda each: told is None or each[0] != told.entry):
        own = list(independent(all_of))
        is_nearest = told is not None and entry == told.entry
        yield Refusing(entry, _said(map(say, own)), _said(say(each) for each in all_of if each not in own), is_nearest)


def alike(compiled: Compile) -> tuple[Refused, ...]:
    """Return the refusals of entries, oldest first, that refused only the value that the nearest entry refused.

    Their sentences differ only in the value. A single one has its own sentence.
    """
    told = nearest(compiled.trigger) if isinstance(compiled.trigger, Recompile) else None
    if told is None or told.folded or len(told.reasons) != 1 or not isinstance(compiled.trigger, Recompile):
        return ()
    (own,) = told.reasons
    others = [refused(each) for each in compiled.trigger.refusals if each.entry != told.entry]
    single = [each[0] for each in others if len(each) == 1]
    same = [each for each in single if each.has_values and (each.source, each.aspect) == (own.source, own.aspect)]
    return tuple(same) if len(same) > 1 else ()


def _said(found: Iterable[Reason]) -> tuple[Reason, ...]:
    """Return reasons without those whose sentence occurred before."""
    return tuple({each.words: each for each in found}.values())


def reason_words(root: Function, function: Function, compiled: Compile) -> str:
    """Return why a function was recompiled, in the words that all views use."""
    found = reasons(root, function, compiled)
    return found[0].words if found else UNTOLD
