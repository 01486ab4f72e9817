"""The kind of a recompile, by the refusal of an entry, and its sentences with the values of the call."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from depyf.findings.catalogue.kind import Kind
from depyf.findings.catalogue.recompiles import (
    DEFAULTS,
    HELD_IN_CALL,
    IDENTITY,
    IN_CALL,
    IN_CONDITION,
    IN_SOME_CALLS,
    KEYS,
    KEYWORDS,
    LEARNING_RATE,
    MISSING,
    MISSING_KEYWORD,
    NUMBER_OF_KEYWORDS,
    ONE_IN_CALL,
    OTHER_NUMBER,
    STATES,
    SUBJECT,
    SYMBOLIC,
    TENSORS,
    UNKNOWN,
    VALUES,
)
from depyf.findings.nearest import changed_dimensions, literal
from depyf.model.refused import NUMBER_OF_KEYS, Refused
from depyf.model.reproducible import without_addresses
from depyf.model.spelling import root_name, spelled
from depyf.model.syntax import decides, is_handed_over, is_handed_over_in, keyword_parameters

_HINT = re.compile(r"\(HINT: (?P<hint>.*?)\)\s*$", re.DOTALL)
_LEARNING_RATE = re.compile(r"\.param_groups\[\d+\]\[['\"]lr['\"]\]$")
_HELD = re.compile(r"\.__(?:defaults|kwdefaults|closure)__\b")
_BOTH = re.compile(r"(?:on )?\{actual\}, (?P<expected>not (?:on )?\{expected\})")
_CODE = "code of "
NONE_TYPE = "NoneType"
_KEYS = re.compile(r"the keys (?P<keys>.*), in this order$")
STACK = "___stack"
"""Dynamo's name for a value that is passed across a graph break."""
_CARRIED = re.compile(r"(the (?:number|string|flag|constant|function)) `\{subject\}`")


def kind_of_recompile(found: Refused, parameters: Collection[str] = (), source: str = "") -> Kind:
    """Return the kind of a refusal; `parameters` and `source` are those of the function, if known."""
    if holder_of(found) and (not parameters or root_name(found.source) in parameters):
        return DEFAULTS
    root = root_name(found.source)
    is_keywords = bool(root) and root in source and root in keyword_parameters(source)
    kind = _special(found) or _of_any_value(found, parameters, source, is_keywords=is_keywords)
    if kind is MISSING and is_keywords:
        return MISSING_KEYWORD
    return _carried(kind) if root.startswith(STACK) else kind


def _of_any_value(found: Refused, parameters: Collection[str], source: str, *, is_keywords: bool) -> Kind:
    """Return the kind of a refusal of a value; `is_keywords` says whether it is in the `**kwargs`."""
    change, place = _change(found), place_of(found, parameters)
    if is_keywords and found.subject == root_name(found.source):
        return KEYWORDS if change == "keys" else NUMBER_OF_KEYWORDS
    if is_keywords and place == "element":
        place = "argument"
    kind = _of_tensor(found, place) or _of_container(found, change, place)
    if kind is not None:
        return kind
    return _of_value(found, change, place, source) if change and found.source else UNKNOWN


def _carried(kind: Kind) -> Kind:
    """Return a kind for a value that a graph break leaves on the stack. It has no name, and the break is the cause."""
    cause = re.sub(r"(?<=`\{subject\}`) \(.*?\)", "", kind.cause)
    cause = _CARRIED.sub(r"\1 carried over the graph break", cause)
    return replace(kind, cause=cause.replace(SUBJECT, "the value carried over the graph break"), fix="")


def _of_tensor(found: Refused, place: str) -> Kind | None:
    """Return the kind of a refusal of a tensor, or of its type; None for any other value."""
    if found.is_dimension:
        return TENSORS["dimension of one"]
    if found.aspect == "size":
        expected, actual = literal(found.expected), literal(found.actual)
        same_rank = not (isinstance(expected, tuple) and isinstance(actual, tuple)) or len(expected) == len(actual)
        if not same_rank:
            return TENSORS["rank"]
        changed = list(changed_dimensions(found))
        return TENSORS["size of one" if changed and not any(map(may_be_dynamic, changed)) else "size"]
    if found.aspect == "dispatch keys" and _device(found.expected) != _device(found.actual):
        return TENSORS["device"]
    if found.aspect == "dispatch keys" and ("Autocast" in found.expected) != ("Autocast" in found.actual):
        return STATES["autocast"]
    if found.aspect == "type" and not _is_tensor_type(found.actual):
        return VALUES[place, "none" if _is_none(found) else "type"]
    return TENSORS.get(found.aspect)


def _of_container(found: Refused, change: str, place: str) -> Kind | None:
    """Return the kind of a refusal of the keys of a dict or a member of a set; None for any other value."""
    if found.item:
        kind = KEYS if found.item.startswith("key ") else VALUES[place, "constant"]
        return replace(kind, cause=IN_SOME_CALLS)
    if found.aspect == NUMBER_OF_KEYS:
        return OTHER_NUMBER
    return KEYS if change == "keys" else None


def holder_of(found: Refused) -> str:
    """Return the function that holds a value as a default or in its closure, or "".

    >>> holder_of(Refused("0/0", 'L["f"].__defaults__[0]', "", "1", "2", "", ""))
    'f'
    """
    held = _HELD.search(found.source)
    return spelled(found.source[: held.start()]) if held is not None else ""


def _is_none(found: Refused) -> bool:
    """Return whether one of two types is that of None."""
    return NONE_TYPE in (found.expected, found.actual)


def _is_tensor_type(name: str) -> bool:
    """Return whether a type is a tensor type, as far as its name shows."""
    return "Tensor" in name or "Parameter" in name or "Buffer" in name


def _of_value(found: Refused, change: str, place: str, source: str) -> Kind:
    if change == "float" and _LEARNING_RATE.search(found.subject):
        return LEARNING_RATE
    if change in ("int", "float") and decides(found.subject, source):
        return IN_CONDITION
    if change == "int" and (is_handed_over(found.subject, source) or is_handed_over_in(found.where, found.subject)):
        return _in_call(found, place)
    kind = VALUES[place, change]
    if place == "global" and found.subject != root_name(found.source):
        kind = replace(kind, cause=kind.cause.replace("(a global", "(of a global"))
    # A tensor cannot replace a string or a number that is None in some calls.
    is_tensor = any(literal(each) is ... and _is_tensor_type(each) for each in (found.expected, found.actual))
    return kind if change != "none" or is_tensor else replace(kind, fix="")


def _in_call(found: Refused, place: str) -> Kind:
    """Return the kind of an integer that a call or a slice needs. A tensor cannot replace each of those."""
    if place in ("global", "module"):
        return HELD_IN_CALL
    changed = literal(found.expected), literal(found.actual)
    return IN_CALL if may_be_dynamic(changed) else ONE_IN_CALL


def _special(found: Refused) -> Kind | None:
    if found.is_state:
        return STATES.get(found.source, UNKNOWN)
    if found.is_mode:
        return STATES["training"]
    if found.expected == "to be there" or found.expected.startswith("no attribute "):
        return MISSING
    if found.is_identity:
        return IDENTITY
    if found.is_condition or ".size()" in found.source or ".stride()" in found.source:
        return SYMBOLIC
    return None


def advice(found: Refused, parameters: Collection[str] = (), source: str = "") -> str:
    """Return how to avoid this refusal in later calls, or "" if there is no advice."""
    return advice_of(kind_of_recompile(found, parameters, source), found)


def advice_of(kind: Kind, found: Refused, step: int = 0) -> str:
    """Return the advice for a kind, or torch's own hint if the catalogue has no tested advice."""
    hint = _HINT.search(found.text)
    if not kind.fix and hint is not None:
        return f"torch: {hint['hint']}"
    return filled(kind.fix, found, step)


def filled(template: str, found: Refused, step: int = 0) -> str:
    """Return a sentence of the catalogue for a refusal, without unknown values."""
    is_held = template in (DEFAULTS.cause, DEFAULTS.fix)
    expected, actual = (_plain(each.removeprefix(_CODE)) for each in (_keys(found.expected), found.actual))
    if not actual:
        template = _BOTH.sub(r"\g<expected>" if expected else "another one", template)
    elif actual == expected:
        template = _BOTH.sub("another {expected} than before", template)
    if found.aspect == "dispatch keys" and _device(expected) != _device(actual):
        expected, actual = _device(expected), _device(actual)
    subject = holder_of(found) if is_held else ""
    said = template.format(
        subject=subject or found.subject,
        expected=expected,
        actual=actual,
        dimension=changed_dimension(found),
        step=f" by {step}" if step else "",
        values=f", with {found.values or actual}" if actual else "",
        text=found.text,
        item=found.item,
    )
    return without_addresses(said)


def _plain(value: str) -> str:
    """Return an expected or actual value as the user would write it: None, if its type is given."""
    return "None" if value == NONE_TYPE else value


def _keys(expected: str) -> str:
    """Return the expected keys of a dict as a list, like the actual keys. Return other text unchanged."""
    keys = _KEYS.match(expected)
    found = literal(f"[{keys['keys']}]") if keys is not None else ...
    return expected if found is ... else repr(found)


def _device(keys: str) -> str:
    """Return the device in the first of a tensor's dispatch keys."""
    return repr(keys.strip("'").split(",")[0].lower())


def place_of(found: Refused, parameters: Collection[str]) -> str:
    """Return the place of a value, a key of `PLACES`."""
    source, name = found.source, root_name(found.source)
    if source.startswith("G["):
        return "global"
    if "cell_contents" in source or (parameters and name not in parameters and found.subject == name):
        return "closure"
    if found.subject.endswith("]") and not found.subject.endswith("][0]"):
        return "element"
    if "." in found.subject:
        return "module" if "__dict__[" in source or "_modules" in source else "object"
    return "argument"


def _change(found: Refused) -> str:
    """Return what changed, a key of `CHANGES` or `keys`; "" if unknown."""
    if found.aspect == "length":
        return "length"
    if found.aspect == "class":
        return "none" if _is_none(found) else "type"
    if found.expected.startswith("the keys ") or found.aspect == "keys":
        return "keys"
    if found.is_function:
        return "function"
    return _change_of_literals(literal(found.expected), literal(found.actual) if found.actual else None, found)


def _change_of_literals(expected: object, actual: object, found: Refused) -> str:
    if not found.expected:
        return ""
    if (expected is None) != (actual is None) and found.actual:
        return "none"
    if expected is ...:
        return "constant"
    if found.actual and type(expected) is not type(actual) and not {type(expected), type(actual)} <= {int, float}:
        return "type"
    for cls, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string")):
        if isinstance(expected, cls):
            return name
    return "constant"


def changed_dimension(found: Refused) -> int:
    """Return the first differing dimension of two sizes that may be dynamic, else the first differing one."""
    if found.is_dimension:
        return int(found.aspect.rpartition(" ")[2])
    expected, actual = literal(found.expected), literal(found.actual)
    if isinstance(expected, tuple) and isinstance(actual, tuple):
        pairs = [(index, pair) for index, pair in enumerate(zip(expected, actual, strict=False)) if pair[0] != pair[1]]
        first = next((index for index, pair in pairs if may_be_dynamic(pair)), None)
        return first if first is not None else next((index for index, _ in pairs), 0)
    return 0


def may_be_dynamic(changed: tuple[object, object]) -> bool:
    """Return whether one entry may serve both sizes of a dimension. torch compiles 0 and 1 separately."""
    return not set(changed) & {0, 1}
