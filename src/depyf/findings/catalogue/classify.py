"""The kind of a recompile, by a guard failure."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection
from dataclasses import replace

from depyf.findings.catalogue.functions import is_another_function, kind_of_captured
from depyf.findings.catalogue.kind import Change, Kind, Place
from depyf.findings.catalogue.recompiles import (
    ARRAY_FIXES,
    CLASS_AGAIN,
    DEVICE_CONTEXT,
    DIMENSION_ONE,
    DUCK_SIZE,
    EACH_BRANCH,
    EACH_FUNCTION,
    EACH_VALUE,
    FUNCTION_TRANSFORM,
    HELD_IN_CALL,
    IDENTITY,
    IN_CALL,
    IN_CONDITION,
    IN_SOME_CALLS,
    KEY_IN_SOME_CALLS,
    KEYS,
    KEYWORDS,
    LAYOUT,
    LEARNING_RATE,
    MISSING,
    MISSING_KEYWORD,
    NUMBER_OF_KEYWORDS,
    NUMBER_OF_MODULES,
    OFFSET_ZERO,
    ONE_IN_CALL,
    OTHER_CLASS,
    OTHER_NUMBER,
    OTHER_STATE,
    OWN_ATTRIBUTE,
    PARAMETER_SIZE,
    RATE_REPLACED,
    SIZE_ONE,
    STATES,
    SYMBOLIC,
    TENSORS,
    UNKNOWN,
    VALUES,
)
from depyf.model.flags import is_text_of_call, selects_code, shapes_result
from depyf.model.guard_failure import Check, GuardFailure, literal, sizes
from depyf.model.spelling import root_name, spelled, without_strings
from depyf.model.syntax import decides, is_handed_over, is_handed_over_in, keyword_parameters, star_parameters

_DUCK = "duck sizing added this equality"
"""torch's comment behind a guard for two sizes that were equal by chance."""
_LEARNING_RATE = re.compile(r"\.param_groups\[\d+\]\[['\"]lr['\"]\]$")
_OF_MODULE = re.compile(r"""(__dict__\[['"]\w+['"]\]|_modules(['"]\])?\[['"][^'"]+['"]\]\.\w+)$""")
"""The end of a source whose last part is an attribute of a module. Another object's is `.value` behind any source."""
_IN_MODULE = re.compile(r"""__dict__\[|_modules\b""")
_ON_NAME = re.compile(r"(?:el)?if (?:not )?\w+:")
"""A branch on a number with a name: the guard `x.size()[0] % 8 != 0` of `if missing:` fails for the other branch."""
_AUTOCAST = re.compile(r"\bAutocast\w+")
_OF_MODULES = re.compile(r"""[.\[]['"]?_modules['"]?\]?$""")
_HELD = re.compile(r"\.__(?:defaults|kwdefaults|closure)__\b")
NONE_TYPE = "NoneType"
STACK = "___stack"
"""Dynamo's name for a value that is passed across a graph break."""
_TYPES = ((bool, Change.BOOL), (int, Change.INT), (float, Change.FLOAT), (str, Change.STRING))


_OF_PARTIAL = re.compile(r"\.(?:keywords|args)\[")
"""The steps to what a `functools.partial` holds."""


def kind_of_recompile(failure: GuardFailure, parameters: Collection[str] = (), source: str = "") -> Kind:
    """Return the kind of a guard failure.

    Args:
        failure: the guard failure.
        parameters: the names of the function's parameters, if known.
        source: the function's source text, if known.
    """
    parameters = parameters or star_parameters(source)
    root = root_name(failure.source)
    if holder_of(failure) and (not parameters or root in parameters):
        return kind_of_captured(failure)
    is_keywords = bool(root) and root in source and root in keyword_parameters(source)
    kind = _special(failure) or _of_any_value(failure, parameters, source, is_keywords=is_keywords)
    if kind is MISSING and is_keywords:
        return MISSING_KEYWORD
    return _carried(kind) if root.startswith(STACK) else kind


def _of_any_value(failure: GuardFailure, parameters: Collection[str], source: str, *, is_keywords: bool) -> Kind:
    """Return the kind of a failed guard on a value; `is_keywords` says whether it is in the `**kwargs`."""
    place = place_of(failure, parameters)
    if is_keywords and failure.subject == root_name(failure.source):
        return KEYWORDS if failure.check is Check.KEYS else NUMBER_OF_KEYWORDS
    if is_keywords and place is Place.ELEMENT:
        place = Place.ARGUMENT
    kind = _of_tensor(failure, place) or _of_container(failure, place)
    if kind is not None:
        return _of_array(kind, failure)
    change = _change(failure)
    return _of_value(failure, change, place, source) if change is not None and failure.source else UNKNOWN


def _carried(kind: Kind) -> Kind:
    """Return a kind for a value that a graph break leaves on the stack. It has no name, and the break is the cause."""
    return replace(kind, fix="", place_words="", is_carried=True)


def _of_tensor(failure: GuardFailure, place: Place) -> Kind | None:
    """Return the kind of a failed guard on a tensor, or on its type; None for any other value."""
    match failure.check:
        case Check.DIMENSION:
            return DIMENSION_ONE
        case Check.OFFSET:
            return OFFSET_ZERO
        case Check.SIZE:
            return _of_size(failure)
        case Check.DISPATCH_KEYS if ("Sparse" in failure.expected) != ("Sparse" in failure.actual):
            return LAYOUT
        case Check.DISPATCH_KEYS if device_of(failure.expected) != device_of(failure.actual):
            return TENSORS[Check.DEVICE]
        case Check.DISPATCH_KEYS if ("FuncTorch" in failure.expected) != ("FuncTorch" in failure.actual):
            return FUNCTION_TRANSFORM
        case Check.DISPATCH_KEYS if ("Autocast" in failure.expected) != ("Autocast" in failure.actual):
            state = "without autocast: the dispatch keys of its tensors lacked"
            state = state if "Autocast" in failure.expected else "with autocast: the dispatch keys of its tensors had"
            return replace(STATES["autocast"], cause=f"it was called {state} {_autocast_key(failure)}")
        case Check.TYPE if not _is_tensor_type(failure.actual):
            return VALUES[place, Change.NONE] if _is_none(failure) else _of_type(failure, place)
    return TENSORS.get(failure.check)


def _autocast_key(failure: GuardFailure) -> str:
    """Return the dispatch key by which a tensor shows autocast, such as AutocastCPU."""
    key = _AUTOCAST.search(failure.expected) or _AUTOCAST.search(failure.actual)
    return key[0] if key is not None else "an autocast key"


def _of_array(kind: Kind, failure: GuardFailure) -> Kind:
    """Return a kind with the fix for an array of numpy, of which torch makes a tensor. Other fixes are for tensors."""
    if "from_numpy(" not in without_strings(failure.source):
        return kind
    return replace(kind, fix=ARRAY_FIXES.get(kind.name, ""))


def _of_size(failure: GuardFailure) -> Kind:
    expected, actual = sizes(failure.expected), sizes(failure.actual)
    if expected and actual and len(expected) != len(actual):
        return TENSORS[Check.RANK]
    changed = failure.changed_dimensions
    if changed and not any(may_be_dynamic(wanted, size) for _, wanted, size in changed):
        return SIZE_ONE
    return PARAMETER_SIZE if failure.type.endswith("Parameter") else TENSORS[Check.SIZE]


def _of_container(failure: GuardFailure, place: Place) -> Kind | None:
    """Return the kind of a failed guard on the keys of a dict or a member of a set; None for any other value."""
    match failure.check:
        case Check.KEY:
            return KEY_IN_SOME_CALLS
        case Check.MEMBER:
            return replace(VALUES[place, Change.CONSTANT], cause=IN_SOME_CALLS, place_words="")
        case Check.NUMBER_OF_KEYS if _OF_MODULES.search(failure.source):
            return NUMBER_OF_MODULES
        case Check.NUMBER_OF_KEYS:
            return OTHER_NUMBER
        case Check.KEYS:
            return KEYS
    return None


def holder_of(failure: GuardFailure) -> str:
    """Return the function that holds a value as a default or in its closure, or "".

    >>> holder_of(GuardFailure('L["f"].__defaults__[0]', Check.VALUE, "1", "2"))
    'f'
    """
    held = _HELD.search(failure.source)
    return spelled(failure.source[: held.start()]) if held is not None else ""


def _is_none(failure: GuardFailure) -> bool:
    """Return whether one of two types is that of None."""
    return NONE_TYPE in (failure.expected, failure.actual)


def _is_tensor_type(name: str) -> bool:
    """Return whether a type is a tensor type, as far as its name shows."""
    return "Tensor" in name or "Parameter" in name or "Buffer" in name


def _of_value(failure: GuardFailure, change: Change, place: Place, source: str) -> Kind:
    kind = _of_use(failure, change, place, source)
    if kind is not None:
        return kind
    kind = _of_type(failure, place) if change is Change.TYPE else VALUES[place, change]
    if place is Place.GLOBAL and failure.subject != root_name(failure.source):
        kind = replace(kind, place_words=f"of {kind.place_words}")
    # A tensor cannot replace a string or a number that is None in some calls.
    is_tensor = any(literal(text) is ... and _is_tensor_type(text) for text in (failure.expected, failure.actual))
    return kind if change is not Change.NONE or is_tensor else replace(kind, fix="")


def _of_use(failure: GuardFailure, change: Change, place: Place, source: str) -> Kind | None:
    """Return the kind of a value by its use in the source, or None if the use does not decide it."""
    if change is Change.FLOAT and _LEARNING_RATE.search(failure.subject):
        return LEARNING_RATE
    if change in (Change.INT, Change.FLOAT) and decides(failure.subject, source):
        return IN_CONDITION
    if change is Change.INT and _is_passed_on(failure, place, source):
        return _in_call(failure, place)
    note = _of_each(failure, change, source)
    return replace(VALUES[place, change], fix="", note=note) if note else None


def _of_each(failure: GuardFailure, change: Change, source: str) -> str:
    """Return why a string, a flag or a function needs an entry for each value, because no tensor replaces it, or "".

    A `functools.partial` passes its `keywords` on to a call.
    """
    subject = failure.subject
    match change:
        case Change.FUNCTION:
            return EACH_FUNCTION if is_another_function(failure) else ""
        case Change.STRING if _OF_PARTIAL.search(subject) or is_text_of_call(subject, source):
            return EACH_VALUE
        case Change.STRING:
            return EACH_BRANCH if selects_code(subject, source) else ""
        case Change.BOOL:
            return EACH_VALUE if _OF_PARTIAL.search(subject) or shapes_result(subject, source) else ""
    return ""


def _of_type(failure: GuardFailure, place: Place) -> Kind:
    """Return the kind of a value of another type. Only numbers, strings and containers convert into one another.

    A tensor converts into one of a subclass, and back.
    """
    if _LEARNING_RATE.search(failure.subject) and _is_tensor_type(failure.expected):
        return RATE_REPLACED
    kind = VALUES[place, Change.TYPE]
    is_of_class = failure.check in (Check.CLASS, Check.TYPE)
    types = (failure.expected, failure.actual) if is_of_class else ()
    is_converted = all(map(_converts, types)) or any(map(_is_tensor_type, types))
    return kind if is_converted else replace(kind, fix="", note=OTHER_CLASS)


def _converts(name: str) -> bool:
    """Return whether values of a type convert into another one. Objects of a program's own classes do not."""
    module, _, _ = name.rpartition(".")
    return (
        not name
        or _is_tensor_type(name)
        or hasattr(builtins, name)
        or module.startswith(("numpy", "collections"))
        or name == "torch.Size"
    )


def _is_passed_on(failure: GuardFailure, place: Place, source: str) -> bool:
    """Return whether a method or a slice gets a number. `x.split(lengths)` needs each item of `lengths` as one."""
    line = failure.line.text if failure.line is not None else ""
    holder = failure.subject.rpartition("[")[0] if place is Place.ELEMENT else ""
    names = [name for name in (failure.subject, holder) if name]
    if any(is_handed_over(name, source) or is_handed_over_in(line, name) for name in names):
        return True
    return any(is_handed_over(name, line) for name in _in_methods(failure.subject))


def _in_methods(subject: str) -> list[str]:
    """Return what methods of the objects in between call an attribute.

    >>> _in_methods('self.router.config["chosen"]')
    ['self.config["chosen"]', 'self["chosen"]']
    """
    owner, *steps = _STEPS.findall(subject)
    return [owner + "".join(steps[number:]) for number in range(1, len(steps))] if owner == "self" else []


_STEPS = re.compile(r"^\w+|\.\w+|\[[^\]]*\]")


def _in_call(failure: GuardFailure, place: Place) -> Kind:
    """Return the kind of an integer that a call or a slice needs. A tensor cannot replace each of those."""
    if place in (Place.GLOBAL, Place.MODULE) or _IN_MODULE.search(failure.source) is not None:
        return HELD_IN_CALL
    return IN_CALL if may_be_dynamic(failure.expected_value, failure.actual_value) else ONE_IN_CALL


def _of_condition(failure: GuardFailure) -> Kind:
    """Return the kind of a condition that did not hold; that of a branch on a name says which branch was taken."""
    branch = _ON_NAME.match(failure.line.text) if failure.line is not None else None
    if branch is None or not failure.subject.endswith((" != 0", " == 0")):
        return SYMBOLIC
    return replace(SYMBOLIC, cause=f"`{branch[0]}` took the other branch{{values}}")


def _special(failure: GuardFailure) -> Kind | None:
    match failure.check:
        case Check.STATE:
            of_modes = failure.expected + failure.actual if failure.source == "torch_function_modes" else ""
            return DEVICE_CONTEXT if "DeviceContext" in of_modes else STATES.get(failure.source, OTHER_STATE)
        case Check.ATTRIBUTE if failure.guard == "DICT_CONTAINS":
            return OWN_ATTRIBUTE
        case Check.PRESENCE | Check.ATTRIBUTE:
            return MISSING
        case Check.IDENTITY:
            return IDENTITY
        case Check.CONDITION if _DUCK in failure.text:
            return DUCK_SIZE
        case Check.CONDITION:
            return _of_condition(failure)
        case Check.CLASS if failure.expected == failure.actual != "":
            return CLASS_AGAIN
    if failure.is_mode:
        return STATES["training"]
    source = without_strings(failure.source)
    return SYMBOLIC if ".size()" in source or ".stride()" in source else None


def device_of(keys: str) -> str:
    """Return the device in the first of a tensor's dispatch keys."""
    return repr(keys.strip("'").removeprefix("DispatchKeySet(").split(",")[0].removesuffix(")").lower())


def place_of(failure: GuardFailure, parameters: Collection[str]) -> Place:
    """Return where the program keeps the value that a guard checks."""
    source, subject, name = failure.source, failure.subject, root_name(failure.source)
    if source.startswith("G["):
        return Place.GLOBAL
    if "cell_contents" in without_strings(source) or (parameters and name not in parameters and subject == name):
        return Place.CLOSURE
    if subject.endswith("]"):
        return Place.ELEMENT
    if "." in subject:
        return Place.MODULE if _OF_MODULE.search(source) is not None else Place.OBJECT
    return Place.ARGUMENT


def _change(failure: GuardFailure) -> Change | None:
    """Return what changed in a value, or None if it is unknown."""
    match failure.check:
        case Check.LENGTH:
            return Change.LENGTH
        case Check.CLASS:
            return Change.NONE if _is_none(failure) else Change.TYPE
        case Check.FUNCTION:
            return Change.FUNCTION
    if not failure.expected:
        return None
    return _change_of_literals(failure.expected_value, failure.actual_value if failure.actual else None, failure)


def _change_of_literals(expected: object, actual: object, failure: GuardFailure) -> Change:
    if (expected is None) != (actual is None) and failure.actual:
        return Change.NONE
    if expected is ...:
        return Change.CONSTANT
    if failure.actual and type(expected) is not type(actual):
        return Change.TYPE
    return next((change for cls, change in _TYPES if isinstance(expected, cls)), Change.CONSTANT)


def changed_dimension(failure: GuardFailure) -> int:
    """Return the first differing dimension of two sizes that may be dynamic, else the first differing one."""
    if failure.dimension >= 0:
        return failure.dimension
    changed = failure.changed_dimensions
    first = next((dimension for dimension, wanted, size in changed if may_be_dynamic(wanted, size)), None)
    return first if first is not None else next((dimension for dimension, _, _ in changed), 0)


def marked_dimensions(failure: GuardFailure) -> str:
    """Return the dimensions to mark as dynamic, as `mark_dynamic` takes them: `0`, or `[2, 3]` if several differ."""
    changed = [dimension for dimension, wanted, size in failure.changed_dimensions if may_be_dynamic(wanted, size)]
    return str(changed) if len(changed) > 1 else str(changed_dimension(failure))


def may_be_dynamic(expected: object, actual: object) -> bool:
    """Return whether one entry may serve both sizes of a dimension. torch compiles 0 and 1 separately."""
    return not {expected, actual} & {0, 1}
