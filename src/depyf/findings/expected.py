"""Events that need no change of the program, because every program of its kind has them once."""

from __future__ import annotations

from collections.abc import Sequence

from depyf.findings.catalogue.classify import may_be_dynamic
from depyf.findings.catalogue.kind import Change, Place
from depyf.findings.catalogue.recompiles import (
    EACH_FUNCTION,
    FILLED,
    KEYS,
    MISSING,
    OF_EACH_OBJECT,
    OTHER_CLASS,
    OWN_ATTRIBUTE,
    SET_IN_CALL,
    TENSORS,
)
from depyf.findings.causes import Cause
from depyf.findings.events import Event
from depyf.findings.fixed import is_replaced
from depyf.findings.nearest import MODULES, PARAMETERS
from depyf.findings.sizes import is_for_one_size
from depyf.findings.strides import changed_dimensions, guarded_numbers
from depyf.model.guard_failure import ABSENT, Check, GuardFailure, literal
from depyf.model.run import Compile, Guard, GuardSet
from depyf.model.spelling import spelled
from depyf.model.user_source import is_of_torch

FOUND = "the first call made it, and later calls find it"
"""Why a value is expected that a call sets or fills."""
MANY = 3
"""With this many recompiles for one cause, a function counts as recompiling again and again."""
_MODULES = "torch/nn/modules/module.py"
_REQUIRES_GRAD = TENSORS[Check.REQUIRES_GRAD].name


def expectation(event: Event) -> str:
    """Return why an event is expected, or "" for one that a change of the program avoids.

    The first call without gradients or in evaluation is such an event. So are a size that torch makes dynamic and the
    last, smaller batch of a data loader. Another module of the same class and a first call that fills a dict are too.
    """
    cause = event.cause
    if _is_state(cause) and event.alone <= 1:
        return _entries(event)
    compiles = [compiled for function, compiled in event.compiles if function is cause.function]
    if not compiles:
        return ""
    few = len(compiles) < MANY
    if few and is_of_another_module(event):
        return f"each {_other_module(event)} needs an entry of its own"
    causes = _own_causes(event)
    if few and (words := _of_decorated(causes)):
        return words
    if len(compiles) == 1 and _are_symbols(causes, compiles[0]):
        return "from the second value on, torch compiles for any value"
    if few and _is_other_class(cause) and _is_bounded(event):
        return OTHER_CLASS
    if event.alone <= 1 and _are_first_made(causes):
        return FOUND
    return _of_few_entries(event, compiles)


def _of_decorated(causes: Sequence[Cause]) -> str:
    """Return why a few entries of a decorator's `wrapper` are expected: it is one code for all that it wraps."""
    if any(cause.kind.place is Place.CLOSURE and cause.kind.note == EACH_FUNCTION for cause in causes):
        return "one code serves several decorated functions, each of which needs an entry of its own"
    return ""


def _other_module(event: Event) -> str:
    """Return which other object needs an entry, for the sentence."""
    causes = (event.cause, *(cause for cause, _ in event.together))
    if any(map(_is_of_other_class, causes)):
        return "module of another class"
    own = [cause.failures[0].subject for cause in causes if _is_of_each_object(cause)]
    if own:
        return f"object with another `{own[0]}`"
    return "module with other parts" if has_other_parts(event) else "module of another size"


def _of_few_entries(event: Event, compiles: Sequence[Compile]) -> str:
    """Return why a smaller batch, sizes that settle, or states of the call are expected, or ""."""
    words = ""
    if not event.together:
        is_single = len(compiles) == 1
        words = _of_one(event.cause, compiles[0]) if is_single else _settles(event.cause, compiles)
    return words or (_entries(event) if _is_state(event.cause) and _is_bounded(event) else "")


def _own_causes(event: Event) -> tuple[Cause, ...]:
    """Return what differed in the recompiles of an event, without causes that are an event of their own."""
    others = (cause for cause, _ in event.together if all(cause is not other for other in event.elsewhere))
    return (event.cause, *others)


def _is_state(cause: Cause) -> bool:
    """Return whether a cause has few values in any program: a state of the call, or a size of 0, 1 or more."""
    return cause.kind.is_expected or _is_of_training(cause)


def _is_other_class(cause: Cause) -> bool:
    """Return whether an argument was an object of another class. A module's parts change only if a program does it."""
    return cause.kind.note == OTHER_CLASS and cause.kind.place is Place.ARGUMENT


def _is_bounded(event: Event) -> bool:
    """Return whether all that differed in each recompile of an event needs few entries."""
    orders = {compiled.order for _, compiled in event.compiles}
    return all(
        _is_harmless(cause, compiled)
        for cause in _own_causes(event)
        for compiled in cause.compiles
        if compiled.order in orders
    )


def _is_harmless(cause: Cause, compiled: Compile) -> bool:
    is_made = _is_first_made(cause) or (cause.is_changed and _is_one_more(cause.failures[0]))
    return is_made or _is_state(cause) or _is_other_class(cause) or _is_symbol_in(cause, compiled)


def _entries(event: Event) -> str:
    """Return how many entries serve a state of the call: one, or one in each state that other causes make."""
    count = sum(function is event.cause.function for function, _ in event.compiles)
    return "one more entry serves all such calls" if count < 2 else f"{count} more entries serve all such calls"


def _are_symbols(causes: Sequence[Cause], compiled: Compile) -> bool:
    """Return whether an entry serves any value of each cause, apart from states of the call and sizes of 0 and 1."""
    symbols = [_is_symbol_in(cause, compiled) for cause in causes]
    return any(symbols) and all(is_symbol or cause.kind.is_expected for cause, is_symbol in zip(causes, symbols))


def _is_symbol_in(cause: Cause, compiled: Compile) -> bool:
    """Return whether the entry of a compile serves any value in the place of the one for which a cause made it."""
    theirs = [
        failure
        for compiled_for, failure in zip(cause.compiles, cause.failures, strict=True)
        if compiled_for is compiled
    ]
    return any(_is_symbol(failure, compiled) for failure in theirs[-1:])


def _is_of_training(cause: Cause) -> bool:
    """Return whether `requires_grad` of a parameter differs, or that of an input of a module with parameters.

    A discriminator gets its input with and without a gradient, and a frozen copy of a model has parameters without one.
    The first layer of a model gets its data, and later layers get results. After a graph break each layer is a function
    of its own, which `Module.__call__` calls.
    """
    if cause.kind.name != _REQUIRES_GRAD:
        return False
    callers = (compiled.user_stack[-1].filename for compiled in cause.compiles if compiled.user_stack)
    if any(filename.replace("\\", "/").endswith(_MODULES) for filename in callers):
        return True
    guards = [compiled.guards for compiled in cause.compiles if isinstance(compiled.guards, GuardSet)]
    guarded = (guard.source for guard_set in guards for guard in guard_set.guards)
    return any(PARAMETERS in source for source in (cause.failures[0].source, *guarded))


def _of_one(cause: Cause, compiled: Compile) -> str:
    """Return why a single recompile in which nothing else differed is expected, or ""."""
    if _is_smaller_batch(cause.failures[0]):
        return "a smaller batch, such as the last one"
    is_stride = cause.failures[0].check is Check.STRIDE
    return "only the first call had the other stride" if is_stride and _is_of_first_call(cause, compiled) else ""


def _is_of_first_call(cause: Cause, compiled: Compile) -> bool:
    """Return whether one entry served the first call alone, and the other one all later calls.

    The first token of a text is often a view of the prompt, `prompt[:, -1:]`. Later tokens are tensors of their own.
    """
    first = cause.function.compiles[0]
    is_next = cause.function.compiles[1:2] == [compiled]
    return is_next and first.hits == 1 and compiled.hits is not None and compiled.hits >= MANY


def is_of_another_module(event: Event) -> bool:
    """Return whether parameters of modules differ in size, as they do for two modules of one class.

    A module's parameter keeps its size, so a parameter of another size belongs to another module. Its inputs have other
    sizes, too, and may have gradients.
    """
    causes = (event.cause, *(cause for cause, _ in event.together))
    if any(map(_is_of_other_class, causes)):
        return True
    causes = tuple(cause for cause in causes if not cause.kind.is_expected)
    sizes = [cause.failures[0] for cause in causes if cause.failures[0].check in (Check.SIZE, Check.DIMENSION)]
    gradients = [cause for cause in causes if cause.kind.name == _REQUIRES_GRAD]
    parameters = [failure.subject for failure in sizes if PARAMETERS in failure.source]
    is_of_parameter = bool(parameters) and not any(is_replaced(event.cause.function, name) for name in parameters)
    of_parts = [cause for cause in causes if _is_of_other_parts(cause) or _is_of_each_object(cause)]
    return (is_of_parameter or bool(of_parts)) and len(sizes) + len(gradients) + len(of_parts) == len(causes)


def has_other_parts(event: Event) -> bool:
    """Return whether modules of a class of torch's had other parts in the calls of an event."""
    causes = (event.cause, *(cause for cause, _ in event.together))
    return any(_is_of_other_parts(cause) or _is_of_other_class(cause) for cause in causes)


def _is_of_other_class(cause: Cause) -> bool:
    """Return whether torch's own code was called for a module of another class, so that all else may differ, too.

    torch compiles the modules of its own, such as `Embedding` and `Sequential`, through one function that calls `fn`.
    """
    failure = cause.failures[0]
    is_module = failure.source in ('L["fn"]', 'L["self"]')
    return is_of_torch(cause.function.filename) and is_module and failure.check in (Check.CLASS, Check.TYPE)


def _is_of_each_object(cause: Cause) -> bool:
    return cause.kind.name == OF_EACH_OBJECT.name


def _is_of_other_parts(cause: Cause) -> bool:
    """Return whether modules of a class of torch's, such as `Sequential`, have other parts."""
    failure = cause.failures[0]
    checks = (Check.NUMBER_OF_KEYS, Check.KEYS, Check.KEY, Check.CLASS)
    return is_of_torch(cause.function.filename) and MODULES in failure.source and failure.check in checks


def _are_first_made(causes: Sequence[Cause]) -> bool:
    """Return whether the first call made the values, apart from a state of the call and from a dict with one key more.

    The first step of an optimizer fills its state, and some put a key into their group. An argument is no such dict,
    because a caller may pass another one.
    """
    first_made = [part for part in causes if _is_first_made(part)]
    others = (part for part in causes if part not in first_made)
    return bool(first_made) and all(
        part.kind.is_expected or (part.is_changed and _is_one_more(part.failures[0])) for part in others
    )


def _is_one_more(failure: GuardFailure) -> bool:
    """Return whether a dict that outlives calls got one key more."""
    before, now = failure.expected_value, failure.actual_value
    if failure.check is not Check.NUMBER_OF_KEYS or not isinstance(before, int) or not isinstance(now, int):
        return False
    return now == before + 1 and failure.source.startswith(("G[", 'L["self"]'))


def _is_first_made(cause: Cause) -> bool:
    """Return whether the first call itself made the value: an attribute, or the first keys of a dict.

    A number may count on, so it is not expected.
    """
    is_added = cause.kind.name in (MISSING.name, OWN_ATTRIBUTE.name) and cause.failures[0].expected == ABSENT
    if cause.kind.name == SET_IN_CALL.name or (
        cause.is_set and (is_added or cause.kind.change in (Change.BOOL, Change.STRING))
    ):
        return True
    return cause.is_changed and cause.kind.name in (KEYS.name, FILLED.name) and any(map(_is_of_none, cause.failures))


def _is_of_none(failure: GuardFailure) -> bool:
    """Return whether an entry expected an empty dict, or that a key does not exist."""
    if failure.check is Check.NUMBER_OF_KEYS:
        return failure.expected_value == 0
    return failure.check is Check.KEY and failure.expected == ABSENT


def _settles(cause: Cause, compiles: Sequence[Compile]) -> str:
    """Return the words for entries that each serve any value, or 0 or 1, which torch compiles for themselves, or "".

    A second entry for any value is of another mode of the function, such as one with a mask.
    """
    failures = {compiled.order: failure for compiled, failure in zip(cause.compiles, cause.failures, strict=True)}
    if len(compiles) >= MANY or any(compiled.order not in failures for compiled in compiles):
        return ""
    others = [failures[compiled.order] for compiled in compiles if not _is_symbol(failures[compiled.order], compiled)]
    if not others:
        return "torch compiles for any value, once for each mode of the function"
    return "torch compiles 0 and 1 separately, then for any value" if all(map(_is_zero_or_one, others)) else ""


def _is_zero_or_one(failure: GuardFailure) -> bool:
    """Return whether the value of a call was 0 or 1, or each size that changed."""
    if failure.check is Check.SIZE:
        changed = failure.changed_dimensions
        return bool(changed) and not any(may_be_dynamic(size, size) for _, _, size in changed)
    is_number = type(failure.actual_value) in (int, float)
    return failure.check is Check.VALUE and is_number and failure.actual_value in (0, 1)


def _is_smaller_batch(failure: GuardFailure) -> bool:
    changed = failure.changed_dimensions
    return bool(changed) and all(dimension == 0 and size < wanted for dimension, wanted, size in changed)


def _is_symbol(failure: GuardFailure, compiled: Compile) -> bool:
    """Return whether the new entry serves any value in the place of the one that differed."""
    guards = compiled.guards
    if not isinstance(guards, GuardSet):
        return False
    is_array = "from_numpy(" in failure.source
    theirs = [
        guard
        for guard in guards.guards
        if guard.source == failure.source or (is_array and spelled(guard.source) == failure.subject)
    ]
    if failure.check in (Check.SIZE, Check.STRIDE):
        dimensions = [dimension for dimension, _, _ in changed_dimensions(failure)]
        tensors = [guard for guard in theirs if guard.kind == "TENSOR_MATCH"]
        sizes = ((number, size) for number, _, size in failure.changed_dimensions)
        if any(is_for_one_size(compiled, failure.source, number, size) for number, size in sizes):
            return False
        return bool(theirs) and all(_is_dynamic(guard, failure.check.value, dimensions) for guard in tensors)
    is_number = type(failure.expected_value) is type(failure.actual_value) in (int, float)
    is_pinned = any(map(_pins, theirs)) or any(_is_for_one(failure.source, guard) for guard in guards.guards)
    return is_number and failure.check is Check.VALUE and not is_pinned


def _pins(guard: Guard) -> bool:
    return guard.kind in ("EQUALS_MATCH", "CONSTANT_MATCH", "ID_MATCH") or guard.clause.startswith("equals(")


def _is_for_one(source: str, guard: Guard) -> bool:
    """Return whether a guard requires one number, as `L["rows"][0] == 1` does where torch gave up a symbol."""
    number = guard.clause.removeprefix(f"{source} == ")
    return number != guard.clause and type(literal(number)) in (int, float)


def _is_dynamic(guard: Guard, respect: str, dimensions: Sequence[int]) -> bool:
    """Return whether an entry serves any size, or any stride, in some dimensions of a tensor."""
    known = guarded_numbers(guard, respect)
    return bool(dimensions) and max(dimensions) < len(known) and all(known[number] is None for number in dimensions)
