"""Read guard failures from an index of schema 1, which holds each as a sentence.

`size of L["x"]: expected (2, 8), got (2, 12)  (train.py:5 y = x @ w)`. Values and lines can hold the words of the
sentence, so it is split outside of Python's strings and brackets.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from depyf.model.guard_failure import ABSENT, PRESENT, Check, GuardFailure, literal
from depyf.model.torch_text import condition_failure, find_outside, guard_failure
from depyf.model.user_line import UserLine

_EXPECTED, _GOT, _PLACE = ": expected ", ", got ", "  ("
_RESPECTS: Mapping[str, Check] = {
    check.value: check
    for check in Check
    if check not in (Check.VALUE, Check.STATE, Check.CONDITION, Check.IDENTITY, Check.UNKNOWN)
}
_STATES = frozenset(
    "grad_mode inference_mode autocast autocast_cache torch_function torch_function_all_disabled torch_function_modes "
    "deterministic_algorithms deterministic_algorithms_warn_only allow_tf32 allow_fp16_reduce allow_bf16_reduce "
    "cuda_matmul_precision default_device default_dtype num_threads saved_tensors_hooks".split()
)
_ITEMS = {
    "has key ": (Check.KEY, PRESENT),
    "has no key ": (Check.KEY, ABSENT),
    "has member ": (Check.MEMBER, PRESENT),
    "has no member ": (Check.MEMBER, ABSENT),
    "no attribute ": (Check.ATTRIBUTE, ABSENT),
}


def failure_of_sentence(sentence: str, own_file: str = "") -> GuardFailure:
    """Return the guard failure that a sentence of schema 1 states, or that torch's text states if it is that.

    Args:
        sentence: the sentence.
        own_file: the file of the compiled function, which the sentence does not name.
    """
    text, line = _without_place(sentence, own_file)
    middle = find_outside(text, _EXPECTED)
    if middle < 0:
        return guard_failure(text, line)
    subject, rest = text[:middle], text[middle + len(_EXPECTED) :]
    end = find_outside(rest, _GOT)
    expected, actual = (rest, "") if end < 0 else (rest[:end], rest[end + len(_GOT) :])
    return replace(_of_parts(subject, expected, actual), line=line, text=sentence)


def _without_place(sentence: str, own_file: str) -> tuple[str, UserLine | None]:
    """Return a sentence without the user's line at its end, and that line."""
    start = -1
    while sentence.endswith(")") and (start := find_outside(sentence, _PLACE, start + 1)) >= 0:
        file, colon, rest = sentence[start + len(_PLACE) : -1].partition(":")
        number, _, text = rest.partition(" ")
        if colon and number.isdigit() and " " not in file:
            return sentence[:start], UserLine(file or own_file, int(number), text)
    return sentence, None


def _of_parts(subject: str, expected: str, actual: str) -> GuardFailure:
    for respect, check in _RESPECTS.items():
        if subject.startswith(f"{respect} of "):
            return GuardFailure(subject.removeprefix(f"{respect} of "), check, expected, actual)
    if subject in _RESPECTS:
        return GuardFailure("", _RESPECTS[subject], expected, actual)
    if subject in _STATES:
        return GuardFailure(subject, Check.STATE, expected, actual)
    for words, (check, wanted) in _ITEMS.items():
        if expected.startswith(words):
            return GuardFailure(subject, check, wanted, actual, item=expected.removeprefix(words))
    if expected == "to be there":
        return GuardFailure(subject, Check.PRESENCE, PRESENT, actual)
    if expected in ("true", "the same object"):
        return condition_failure(subject, _values(actual))
    if expected.startswith("length "):
        return GuardFailure(subject, Check.LENGTH, expected.removeprefix("length "), actual)
    if expected.endswith(" items"):
        return GuardFailure(subject, Check.NUMBER_OF_KEYS, expected.removesuffix(" items"), actual)
    if expected.startswith("the keys ") and expected.endswith(", in this order"):
        keys = expected.removeprefix("the keys ").removesuffix(", in this order")
        return GuardFailure(subject, Check.KEYS, f"[{keys}]", actual)
    if expected.startswith("code of ") or subject.endswith(".__code__"):
        return GuardFailure(subject, Check.FUNCTION, expected.removeprefix("code of "), actual.removeprefix("code of "))
    return GuardFailure(subject, Check.VALUE, expected, actual)


def _values(text: str) -> tuple[tuple[str, str], ...]:
    """Return the values of a condition, from the text of a dict."""
    values = literal(text)
    if isinstance(values, dict):
        return tuple((str(source), repr(value)) for source, value in values.items())
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return ()
    pairs = zip(tree.keys, tree.values, strict=True) if isinstance(tree, ast.Dict) else ()
    return tuple((str(literal(ast.unparse(key))), ast.unparse(value)) for key, value in pairs if key is not None)
