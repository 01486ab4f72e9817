"""Kinds of recompiles: by where the value stands, and in which respect it changed."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from depyf.report.catalogue.kind import Kind
from depyf.report.nearest import changed_dimensions, literal
from depyf.report.refused import NUMBER_OF_KEYS, Refused
from depyf.report.reproducible import without_addresses
from depyf.report.spelling import root_name, spelled
from depyf.report.syntax import decides, is_handed_over, is_handed_over_in

_HINT = re.compile(r"\(HINT: (?P<hint>.*?)\)\s*$", re.DOTALL)

_LEARNING_RATE = re.compile(r"\.param_groups\[\d+\]\[['\"]lr['\"]\]$")
_HELD = re.compile(r"\.__(?:defaults|kwdefaults|closure)__\b")
_BOTH = re.compile(r"(?:on )?\{actual\}, (?P<expected>not (?:on )?\{expected\})")
_CODE = "code of "
NONE_TYPE = "NoneType"
_KEYS = re.compile(r"the keys (?P<keys>.*), in this order$")

STACK = "___stack"
"""How Dynamo calls a value that is carried over a graph break."""
_CARRIED = re.compile(r"(the (?:number|string|flag|constant|function)) `\{subject\}`")
_SUBJECT = "`{subject}`"

PLACES = {
    "argument": "an argument",
    "element": "an item of a container",
    "module": "an attribute of a module",
    "object": "an attribute of an object",
    "global": "a global variable",
    "closure": "a variable of the enclosing function",
}
"""Where a value that is no tensor stands."""

_AS_TENSOR = "make `{subject}` a tensor, such as `torch.tensor({expected})`, and use it as one"
CHANGES = {
    "int": ("the number `{subject}` was {actual}, not {expected}", _AS_TENSOR),
    "float": ("the number `{subject}` was {actual}, not {expected}", _AS_TENSOR),
    "string": (
        "the string `{subject}` was {actual}, not {expected}",
        "look up what depends on `{subject}` before the call, and pass the result as a tensor instead of the string",
    ),
    "bool": (
        "the flag `{subject}` was {actual}, not {expected}",
        "make `{subject}` a tensor, `torch.tensor({expected})`, and choose with `torch.where({subject}, ..., ...)`",
    ),
    "none": (
        "`{subject}` was {actual}, not {expected}",
        "make `{subject}` a tensor in every call: a neutral one, such as zeros, instead of None",
    ),
    "type": (
        "the type of `{subject}` was {actual}, not {expected}",
        "convert `{subject}` to one type before the call",
    ),
    "length": (
        "the length of `{subject}` was {actual}, not {expected}",
        "pass the items of `{subject}` stacked in one tensor `t`, after `torch._dynamo.mark_dynamic(t, 0)`",
    ),
    "constant": (
        "the constant `{subject}` was {actual}, not {expected}",
        "move what depends on `{subject}` out of the compiled function, before the call",
    ),
    "function": (
        "the function `{subject}` was {actual}, not {expected}",
        "define the function once, before the first call, and use that one in all calls",
    ),
}
"""What changed of such a value, how that is said, and what to write."""

VALUES = {
    (place, change): Kind(f"{place}-{change}", cause.replace(_SUBJECT, f"{_SUBJECT} ({words})", 1), fix)
    for place, words in PLACES.items()
    for change, (cause, fix) in CHANGES.items()
}

TENSORS = {
    "size": Kind(
        "tensor-size",
        "the size of `{subject}` was {actual}, not {expected}",
        "call `torch._dynamo.mark_dynamic({subject}, {dimension})` before the first call",
    ),
    "size of one": Kind(
        "tensor-size-one",
        "the size of `{subject}` was {actual}, not {expected}; torch compiles a size of 0 or 1 for itself",
        "",
        is_expected=True,
    ),
    "dimension of one": Kind(
        "tensor-size-one",
        "dimension {dimension} of `{subject}` was {actual}; torch compiles a size of 0 or 1 for itself",
        "",
        is_expected=True,
    ),
    "rank": Kind(
        "tensor-rank",
        "the size of `{subject}` was {actual}, not {expected}: another number of dimensions",
        "reshape `{subject}` to one number of dimensions before the call",
    ),
    "stride": Kind(
        "tensor-stride",
        "the stride of `{subject}` was {actual}, not {expected}",
        "pass `{subject}.contiguous()`",
    ),
    "dtype": Kind(
        "tensor-dtype",
        "the dtype of `{subject}` was {actual}, not {expected}",
        "convert it before the call: `{subject}.to({expected})`",
    ),
    "device": Kind(
        "tensor-device",
        "`{subject}` was on {actual}, not on {expected}",
        "create or move it before the call, on one device: `{subject}.to({expected})`",
    ),
    "requires_grad": Kind(
        "tensor-requires-grad",
        "requires_grad of `{subject}` was {actual}, not {expected}",
        "give `{subject}` the same `requires_grad` in all calls: `{subject}.detach()` where no gradient is needed",
    ),
    "type": Kind(
        "tensor-type",
        "the type of `{subject}` was {actual}, not {expected}",
        "pass one type: `{subject}.detach()` is a plain tensor",
    ),
    "dispatch keys": Kind(
        "tensor-dispatch-keys",
        "the dispatch keys of `{subject}` were {actual}, not {expected}",
        "pass a plain tensor: `{subject}.resolve_conj()` of a lazy conjugate",
    ),
    "the same object": Kind(
        "tensor-aliasing",
        "one tensor was passed twice ({subject})",
        "pass a copy: `.clone()` of one of them",
    ),
}

SIZE_SPECIALIZED = Kind(
    "tensor-size-specialized",
    "the size of `{subject}` was {actual}, not {expected}; torch compiles each size for itself",
    "pad `{subject}` to one size before the call",
)
"""Of a size that a loop or a call needs as a number: to mark it as dynamic raises an exception."""
INSIDE = Kind(
    "tensor-size-inside",
    TENSORS["size"].cause,
    "compile with `dynamic=True`: there is no variable of yours to mark as dynamic",
)
"""Of the size of a tensor that the user's call of a library does not name."""

STATES = {
    "grad_mode": Kind("grad-mode", "it was called with gradients on and off", "", is_expected=True),
    "training": Kind("train-eval", "it was called in training and in evaluation (`{subject}`)", "", is_expected=True),
    "inference_mode": Kind("inference-mode", "it was called under `inference_mode` and without", "", is_expected=True),
    "autocast": Kind(
        "autocast",
        "it was called with autocast {actual}, not {expected}",
        "enter one `torch.autocast` in all calls, or `torch.autocast` inside of the compiled function",
    ),
    "default_dtype": Kind(
        "default-dtype",
        "the default dtype was {actual}, not {expected}",
        "call `torch.set_default_dtype` once, before the first call",
    ),
    "num_threads": Kind(
        "num-threads",
        "the number of threads was {actual}, not {expected}",
        "call `torch.set_num_threads` once, before the first call",
    ),
    "deterministic_algorithms": Kind(
        "deterministic-algorithms",
        "`deterministic_algorithms` was {actual}, not {expected}",
        "call `torch.use_deterministic_algorithms` once, before the first call",
    ),
    "torch_function_modes": Kind(
        "torch-function-modes",
        "the torch function modes were {actual}, not {expected}",
        "",
    ),
    "allow_tf32": Kind(
        "matmul-precision",
        "`{subject}` was {actual}, not {expected}",
        "call `torch.set_float32_matmul_precision` once, before the first call",
    ),
}

GROWS = "; it grows{step} from call to call"
COUNTER = Kind(
    "counter",
    "the number `{subject}` was {actual}, not {expected}" + GROWS,
    "make `{subject}` a tensor (in a module: `register_buffer`) and change it in place with `add_`",
)
SET_IN_CALL = Kind(
    "set-in-call",
    "a call set `{subject}`, which was {expected}, to {actual}",
    "set `{subject}` before the first call",
)
GROWTH = Kind(
    "growing-container",
    "the length of `{subject}` was {actual}, not {expected}" + GROWS,
    "change `{subject}` outside of the compiled function, and do not read its length inside",
)
KEYS = Kind(
    "dict-keys",
    "the keys of `{subject}` were {actual}, not {expected}",
    "give `{subject}` the same keys in the same order in all calls",
)
OTHER_NUMBER = replace(KEYS, cause="the number of keys of `{subject}` was {actual}, not {expected}")
_IN_SOME_CALLS = "`{subject}` had the {item} in some calls only"
KEYWORDS = Kind(
    "keyword-arguments",
    "the keyword arguments `{subject}` were {actual}, not {expected}",
    "pass the same keywords in the same order in all calls",
)
MISSING_KEYWORD = replace(KEYWORDS, cause="the keyword argument `{subject}` was passed in some calls only")
NUMBER_OF_KEYWORDS = replace(KEYWORDS, cause="the number of keyword arguments in `{subject}` changed")
DEFAULTS = Kind(
    "argument-function",
    "the function `{subject}` was defined anew: a default or a captured variable of it was {actual}, not {expected}",
    CHANGES["function"][1],
)
"""Of a function whose code is the same, but not its defaults or the variables that it captures."""
MISSING = Kind(
    "missing-attribute",
    "`{subject}` existed in some calls only",
    "set `{subject}` before the first call, and keep it",
)
SYMBOLIC = Kind(
    "symbolic-shape",
    "`{subject}` did not hold{values}",
    "",
)
IDENTITY = Kind(
    "object-identity",
    "`{subject}` did not hold: they were one object when the entry was made, and are two now",
    "",
)
LEARNING_RATE = Kind(
    "learning-rate",
    "the learning rate `{subject}` was {actual}, not {expected}",
    "create the optimizer with its learning rate as a tensor: `lr=torch.tensor(...)`",
)
IN_CONDITION = Kind(
    "number-in-condition",
    "the number `{subject}` was {actual}, not {expected}; a branch or a loop depends on it",
    "move the branch or the loop that depends on `{subject}` out of the compiled function",
)
"""Of a number for which no tensor can stand: a branch on a tensor's value ends the graph."""
IN_CALL = Kind(
    "number-in-call",
    "the number `{subject}` was {actual}, not {expected}; a call or a slice needs it as a number",
    "compile with `dynamic=True`: torch then treats `{subject}` as a symbol",
)
HELD_IN_CALL = Kind(
    "held-number-in-call",
    IN_CALL.cause,
    "pass `{subject}` as an argument, and compile with `dynamic=True`: torch then treats it as a symbol",
)
"""Of a number in a global variable or an attribute of a module, which torch takes to be constant."""
ONE_IN_CALL = Kind(
    "number-of-one",
    "the number `{subject}` was {actual}, not {expected}; torch compiles 0 and 1 for themselves",
    "",
    is_expected=True,
)
SPECIALIZED = Kind(
    "specialized-number",
    "the number `{subject}` was {actual}, not {expected}; torch compiles each value of it for itself",
    "compute what depends on `{subject}` before the call, and pass the result",
)
"""Of a number that an entry has taken as a symbol and then compared with its value, such as the index of a list."""
UNKNOWN = Kind("recompile", "{text}", "")

RECOMPILES: tuple[Kind, ...] = (
    *VALUES.values(),
    *TENSORS.values(),
    *(SIZE_SPECIALIZED, INSIDE),
    *STATES.values(),
    *(COUNTER, SET_IN_CALL, GROWTH, KEYS, KEYWORDS, MISSING, SYMBOLIC, IDENTITY, LEARNING_RATE),
    *(IN_CONDITION, IN_CALL, HELD_IN_CALL, ONE_IN_CALL, SPECIALIZED, UNKNOWN),
)


def kind_of_recompile(found: Refused, parameters: Collection[str] = (), source: str = "") -> Kind:
    """Return the kind of a refusal; `parameters` and `source` are those of the function, where they are known."""
    if holder_of(found) and (not parameters or root_name(found.source) in parameters):
        return DEFAULTS
    special, root = _special(found), root_name(found.source)
    is_keywords = bool(root) and re.search(rf"\*\*\s*{re.escape(root)}\b", source) is not None
    if special is not None:
        return MISSING_KEYWORD if special is MISSING and is_keywords else special
    change, place = _change(found), place_of(found, parameters)
    if is_keywords and found.subject == root:
        return KEYWORDS if change == "keys" else NUMBER_OF_KEYWORDS
    if is_keywords and place == "element":
        place = "argument"
    kind = _of_tensor(found, place) or _of_container(found, change, place)
    if kind is None:
        kind = _of_value(found, change, place, source) if change and found.source else UNKNOWN
    return _carried(kind) if root.startswith(STACK) else kind


def _carried(kind: Kind) -> Kind:
    """Return a kind for a value that a graph break leaves on the stack: it has no name, and the break is the cause."""
    cause = re.sub(r"(?<=`\{subject\}`) \(.*?\)", "", kind.cause)
    cause = _CARRIED.sub(r"\1 carried over the graph break", cause)
    return replace(kind, cause=cause.replace(_SUBJECT, "the value carried over the graph break"), fix="")


def _of_tensor(found: Refused, place: str) -> Kind | None:
    """Return the kind of a refusal of a tensor, or of its type; None for any other value."""
    if found.aspect == "type" and _is_none(found):
        return VALUES[place, "none"]
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
        return VALUES[place, "type"]
    if found.aspect in TENSORS:
        return TENSORS[found.aspect]
    return None


def _of_container(found: Refused, change: str, place: str) -> Kind | None:
    """Return the kind of a refusal of the keys of a dict or a member of a set; None for any other value."""
    if found.item:
        kind = KEYS if found.item.startswith("key ") else VALUES[place, "constant"]
        return replace(kind, cause=_IN_SOME_CALLS)
    if found.aspect == NUMBER_OF_KEYS:
        return OTHER_NUMBER
    return KEYS if change == "keys" else None


def holder_of(found: Refused) -> str:
    """Return the function that holds a value as a default or in its closure, empty where none does.

    >>> holder_of(Refused("0/0", 'L["f"].__defaults__[0]', "", "1", "2", "", ""))
    'f'
    """
    held = _HELD.search(found.source)
    return spelled(found.source[: held.start()]) if held is not None else ""


def _is_none(found: Refused) -> bool:
    """Return whether one of two types is that of None."""
    return NONE_TYPE in (found.expected, found.actual)


def _is_tensor_type(name: str) -> bool:
    """Return whether a type is one of tensors, as far as its name tells."""
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
    # No tensor can replace a string or a number that is None in some calls.
    is_tensor = any(literal(each) is ... and _is_tensor_type(each) for each in (found.expected, found.actual))
    return kind if change != "none" or is_tensor else replace(kind, fix="")


def _in_call(found: Refused, place: str) -> Kind:
    """Return the kind of an integer that a call or a slice takes: a tensor does not stand for each of those."""
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
    """Return what to write so that a call is not refused for this again, empty where nothing is advised."""
    return advice_of(kind_of_recompile(found, parameters, source), found)


def advice_of(kind: Kind, found: Refused, step: int = 0) -> str:
    """Return what to write for a kind; torch's own hint where the catalogue has nothing that was tried."""
    hint = _HINT.search(found.text)
    if not kind.fix and hint is not None:
        return f"torch: {hint['hint']}"
    return filled(kind.fix, found, step)


def filled(template: str, found: Refused, step: int = 0) -> str:
    """Return a sentence of the catalogue for a refusal, without the values that are not known."""
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
    """Return what was expected or found as the user would write it: None, where it is told by its type."""
    return "None" if value == NONE_TYPE else value


def _keys(expected: str) -> str:
    """Return which keys are expected of a dict as a list, as what was there is one; any other text as it is."""
    keys = _KEYS.match(expected)
    found = literal(f"[{keys['keys']}]") if keys is not None else ...
    return expected if found is ... else repr(found)


def _device(keys: str) -> str:
    """Return the device that the first of a tensor's dispatch keys names."""
    return repr(keys.strip("'").split(",")[0].lower())


def place_of(found: Refused, parameters: Collection[str]) -> str:
    """Return where a value stands, a key of `PLACES`."""
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
    """Return in which respect a value changed, a key of `CHANGES` or `keys`, empty where that is not known."""
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
    """Return the first dimension in which two sizes differ and which may be dynamic, else the first that differs."""
    if found.is_dimension:
        return int(found.aspect.rpartition(" ")[2])
    expected, actual = literal(found.expected), literal(found.actual)
    if isinstance(expected, tuple) and isinstance(actual, tuple):
        pairs = [(index, pair) for index, pair in enumerate(zip(expected, actual, strict=False)) if pair[0] != pair[1]]
        first = next((index for index, pair in pairs if may_be_dynamic(pair)), None)
        return first if first is not None else next((index for index, _ in pairs), 0)
    return 0


def may_be_dynamic(changed: tuple[object, object]) -> bool:
    """Return whether one entry may serve a dimension for both its sizes: torch compiles 0 and 1 for themselves."""
    return not set(changed) & {0, 1}
