"""The step from one value of the guard tree to the next, as an expression.

torch's accessors are C++ objects that show Python only their class and a text, for example
`DictGetItemGuardAccessor('k')`. torch's source for the reached value is not always correct, so it is used only if the
text is not sufficient.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from depyf.bytecode.patterns import pattern
from depyf.bytecode.records import dataclass
from depyf.torch.guards.clause import At, Piece, Text
from depyf.torch.guards.cpp import Accessor
from depyf.torch.guards.expression import torch_expression
from depyf.torch.guards.held import hold, hold_key
from depyf.torch.guards.literal import literal, plain_string, quoted
from depyf.torch.guards.verdicts.difference import ABSENT

ROOT = 0
"""The node for the frame."""

_TEXT = pattern(r"^(?P<name>\w+)(?:<TensorProperty::(?P<property>\w+)>)?(?:\((?P<argument>.*)\))?$", re.DOTALL)


@dataclass(slots=True, eq=False)
class Step:
    """A step of the walk: from the node `base` with the value `value`, and with the exact type `cls` if guards pin it.

    argument: the part of the accessor's text in brackets.
    source, base_source: torch's names for the reached value and for the base.
    """

    base: At
    argument: str
    property: str
    source: str
    base_source: str
    cls: type | None
    value: object
    scope: Mapping[str, object]


def step(
    accessor: Accessor,
    base: At,
    sources: tuple[str, str],
    cls: type | None,
    value: object,
    scope: Mapping[str, object],
) -> Text | None:
    """Return the expression for the value that `accessor` reaches from the node `base`, or None if it is unknown.

    Args:
        accessor: torch's accessor.
        base: the node that it starts from.
        sources: torch's names for the base and for the reached value.
        cls: the type of the base, if guards pin it.
        value: the value of the base in the compiled call.
        scope: the globals of torch's guards.
    """
    name, looked_at, argument = _parts(accessor.repr())
    make_step = _STEPS.get(name)
    if make_step is None:
        return None
    if hasattr(accessor, "get_attr_name"):
        argument = accessor.get_attr_name()
    return make_step(Step(base, argument, looked_at, sources[1], sources[0], cls, value, scope))


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[str, str, str]:
    """Return the class of an accessor, the property of a tensor that it looks at, and its argument."""
    match = _TEXT.match(text)
    return ("", "", "") if match is None else (match["name"], match["property"] or "", match["argument"] or "")


def _plain(cls: type | None, *, like: type) -> bool:
    """Return whether guards pin the value to a type whose `[]` behaves like that of `like`."""
    get_item, plain = (getattr(owner, "__getitem__", None) for owner in (cls, like))
    return cls is not None and issubclass(cls, like) and get_item is plain


def _attribute(at: Step) -> Text:
    if at.argument.isidentifier():
        return (at.base, f".{at.argument}")
    return ("getattr(", at.base, f", {quoted(at.argument)})")


def _local(at: Step) -> Text:
    name = ast.literal_eval(at.argument.removeprefix("key=").rpartition(", framelocals_idx=")[0])
    return ("L[", quoted(name), "]")


def _key(at: Step, text: str) -> Text | None:
    """Return the key whose repr is `text`: as a literal, or the object itself if the base has such a key."""
    plain = plain_string(text)
    if plain is not None and (spelled := _spelled(plain)) is not None:
        return (spelled,)
    if isinstance(at.value, dict):
        key = next((key for key in dict.keys(at.value) if repr(key) == text), ABSENT)
        if key is not ABSENT:
            return (_spelled(key) or hold(key, text, strongly=True),)
    try:
        spelled = _spelled(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return None
    return None if spelled is None else (spelled,)


_OF_MODULES = ("._modules", "._parameters", "._buffers")
"""Dicts of a module, whose keys are strings even if they look like numbers."""



def _key_text(at: Step) -> str:
    """Return the repr of a key. torch 2.4 writes its `str`; the dict or the source of the value shows what it was."""
    text = at.argument
    if at.base_source.endswith(_OF_MODULES) and text[:1] not in ("'", '"'):
        return repr(text)
    plain = plain_string(text)
    if plain is not None and isinstance(at.value, dict) and dict.__contains__(at.value, plain):
        if not dict.__contains__(at.value, text):
            # No key has this text as its `str`.
            return text
    if isinstance(at.value, dict):
        keys: list[object] = list(dict.keys(at.value))
        if text not in map(repr, keys):
            return next((repr(key) for key in keys if str(key) == text), text)
    try:
        match ast.parse(at.source, mode="eval").body:
            case ast.Subscript(slice=ast.Constant(value=key)) if str(key) == text:
                return repr(key)
            case ast.Attribute(attr=name) if name == text:
                return repr(name)
    except SyntaxError:
        return text
    return text


def _spelled(key: object) -> Piece | None:
    return (hold_key(key) if isinstance(key, str) else None) or literal(key)


def _dict_item(at: Step) -> Text | None:
    if at.base.node == ROOT:
        # Before 2.7 the locals are a dict whose keys are names.
        return ("L[", quoted(at.argument.strip("'")), "]")
    key = _key(at, _key_text(at))
    if key is None:
        return None
    if at.cls is dict:
        return (at.base, "[", *key, "]")
    return ("dict_item(", at.base, ", ", *key, ")")


def _item(at: Step) -> Text | None:
    """`x[key]` for any `x`. The accessor's text does not distinguish `0` from `"0"`, but torch's source does."""
    try:
        source = ast.parse(at.source, mode="eval").body
    except SyntaxError:
        return None
    if isinstance(source, ast.Subscript):
        return (at.base, "[", ast.unparse(source.slice), "]")
    return None


def _list_item(at: Step) -> Text:
    if _plain(at.cls, like=list):
        return (at.base, f"[{at.argument}]")
    return ("list.__getitem__(", at.base, f", {at.argument})")


def _tuple_item(at: Step) -> Text:
    if _plain(at.cls, like=tuple):
        return (at.base, f"[{at.argument}]")
    return ("tuple.__getitem__(", at.base, f", {at.argument})")


def _set_item(at: Step) -> Text:
    return ("list(", at.base, f")[{at.argument.removeprefix('index=')}]")


def _tensor_property(at: Step) -> Text:
    index = "" if at.property == "STORAGE_OFFSET" else at.argument
    return (at.base, f".{at.property.lower()}({index})")


def _global_referent(at: Step) -> Text:
    return ("referent(", at.base, "[", hold_key(at.argument) or quoted(at.argument), "])")


def _indexed(at: Step) -> Text:
    return ("(", at.argument, ", ", at.base, ")")


def _lambda(at: Step) -> Text | None:
    known = {} if at.base_source in ("", "L", "G") else {at.base_source: at.base.node}
    return torch_expression(at.source, at.scope, known)


def _after(*suffix: str) -> Callable[[Step], Text]:
    return lambda at: (at.base, *suffix)


def _in_call(function: str) -> Callable[[Step], Text]:
    return lambda at: (f"{function}(", at.base, ")")


_STEPS: dict[str, Callable[[Step], Text | None]] = {
    "FrameLocalsGuardAccessor": _local,
    "GlobalsGuardAccessor": lambda at: ("G",),
    "GlobalWeakRefGuardAccessor": _global_referent,
    "GetAttrGuardAccessor": _attribute,
    "GenericGetAttrGuardAccessor": lambda at: ("object.__getattribute__(", at.base, f", {quoted(at.argument)})"),
    "GetGenericDictGuardAccessor": _after(".__dict__"),
    "GetItemGuardAccessor": _item,
    "DictGetItemGuardAccessor": _dict_item,
    "ListGetItemGuardAccessor": _list_item,
    "TupleGetItemGuardAccessor": _tuple_item,
    "SetGetItemGuardAccessor": _set_item,
    "TupleIteratorGetItemAccessor": lambda at: ("iterator_rest(", at.base, f")[{at.argument}]"),
    "TensorPropertyGuardAccessor": _tensor_property,
    "IndexedGuardAccesor": _indexed,
    "GradGuardAccessor": _after(".grad"),
    "FuncDefaultsGuardAccessor": _after(".__defaults__"),
    "FuncKwDefaultsGuardAccessor": _after(".__kwdefaults__"),
    "CodeGuardAccessor": _after(".__code__"),
    "ClosureGuardAccessor": _after(".__closure__"),
    "TypeGuardAccessor": _in_call("type"),
    "TypeDictGuardAccessor": _after(".__dict__"),
    "TypeMROGuardAccessor": _after(".__mro__"),
    "WeakRefCallGuardAccessor": _in_call("referent"),
    "CallFunctionNoArgsGuardAccessor": _after("()"),
    "PythonLambdaGuardAccessor": _lambda,
}
