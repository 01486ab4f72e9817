"""Parse why an entry refused a call: the value that it checked, the expected and the actual value."""

from __future__ import annotations

import re
from dataclasses import replace

from depyf.bytecode.records import dataclass
from depyf.model.run import Refusal
from depyf.model.spelling import spelled

_EXPLAINED = re.compile(
    r"(?P<subject>.*?): expected (?P<expected>.*), got (?P<actual>.*?)(?:  \((?P<where>\S*:\d+(?: .*?)?)\)?)?$",
    re.DOTALL,
)
_MISMATCH = re.compile(
    r"tensor '(?P<subject>.*?)' (?P<aspect>\w+) mismatch.*?expected (?P<expected>.*?)(?:, actual (?P<actual>.*))?$"
)
_EQUAL = re.compile(r"(?P<subject>[\w.\[\]'\"]+) == (?P<expected>.+?)(?:  \((?P<where>\S*:\d+(?: .*)?)\))?$")
_EMPTY = re.compile(r"not (?P<subject>[\w.\[\]'\"]+)(?:  \((?P<where>\S*:\d+(?: .*)?)\))?$")
_AT_LEAST_TWO = re.compile(r"2 <= (?P<tensor>.+)\.size\(\)\[(?P<dimension>\d+)\]$")
"""The condition on a dimension that may change. Sizes 0 and 1 are compiled separately."""
_LENGTH = re.compile(r"len\((?P<subject>.+)\) (?:==|!=) (?P<expected>\d+)(?:  \((?P<where>\S*:\d+(?: .*)?)\))?$")
_CONTAINS = re.compile(
    r"(?P<not>not )?___dict_contains\((?P<key>.+), (?P<subject>[\w.\[\]'\"]+)\)(?:  \((?P<where>\S*:\d+(?: .*)?)\))?$"
)
_CHANGED = re.compile(r"GLOBAL_STATE changed: (?P<subject>\w+)")
_ASPECT = re.compile(r"(?P<aspect>[a-z_ ]+) of (?P<source>.+)$", re.DOTALL)
STATES = frozenset(
    "grad_mode inference_mode autocast autocast_cache torch_function torch_function_all_disabled torch_function_modes "
    "deterministic_algorithms deterministic_algorithms_warn_only allow_tf32 allow_fp16_reduce allow_bf16_reduce "
    "cuda_matmul_precision default_device default_dtype num_threads saved_tensors_hooks".split()
)
"""torch's names for the state around a call, which is no value of the program."""
_SAME = "the same object"
"""The expectation for two names of one object on 2.6 and 2.15. Other releases expect the condition to be true."""
_OF_LENGTH = "length "
_OF_NUMBER = re.compile(r"(?P<number>\d+) items$")
_ITEM = re.compile(r"has (?:no )?(?P<item>(?:key|member) .+)$", re.DOTALL)
NUMBER_OF_KEYS = "number of keys"
"""The aspect of a dict for which torch gives only the number of its keys."""
_VALUE = re.compile(r"(?P<quote>['\"])(?P<name>[LG]\[.*?)(?P=quote): (?P<value>.*?)(?=, ['\"][LG]\[|\}|$)")
"""A value in a condition: its name as a string, and what it was."""
_MISSING = re.compile(r"no attribute ['\"](?P<name>\w+)['\"]")


@dataclass(frozen=True, slots=True)
class Refused:
    """One difference between a call and an entry's expectations. Unknown parts are empty.

    aspect: `size`, `dtype`, ...; "" for a value as a whole.
    where: the user's line that needs the value, as text.
    """

    entry: str
    source: str
    aspect: str
    expected: str
    actual: str
    where: str
    text: str

    @property
    def subject(self) -> str:
        """Return the value as the user would write it."""
        missing = _MISSING.match(self.expected)
        source = f"{self.source}.{missing['name']}" if missing is not None else self.source
        return spelled(source.removesuffix(".__code__") if self.is_function else source)

    @property
    def is_function(self) -> bool:
        """Return whether the guard checks which function a value is."""
        return self.source.endswith(".__code__") or self.expected.startswith("code of ")

    @property
    def has_values(self) -> bool:
        """Return whether the expected and the actual value are known. For a condition, the sentence says it all."""
        return bool(self.expected and self.actual) and not self.is_condition

    @property
    def item(self) -> str:
        """Return the item that was looked up in a dict or a set, such as `key 'a'`, or ""."""
        found = _ITEM.match(self.expected) if not self.aspect else None
        return found["item"] if found is not None else ""

    @property
    def is_state(self) -> bool:
        """Return whether it is about the state around the call, such as `grad_mode`, and not about a value."""
        return not self.aspect and self.source in STATES

    @property
    def is_condition(self) -> bool:
        """Return whether it is about a relation between values that did not hold, such as `n <= 2` or `a is b`."""
        return not self.aspect and self.expected in ("true", _SAME)

    @property
    def is_identity(self) -> bool:
        """Return whether two names were one object when the entry was made, and no longer are."""
        return self.is_condition and " is " in self.source

    @property
    def values(self) -> str:
        """Return the values that a condition is about, as the user would write them."""
        found = () if self.is_identity else _VALUE.finditer(self.actual)
        return " and ".join(f"{spelled(each['name'])} = {each['value']}" for each in found)

    @property
    def is_dimension(self) -> bool:
        """Return whether it is about one dimension of a tensor, which may have any size except 0 and 1."""
        return self.aspect.startswith("dimension ")

    @property
    def is_mode(self) -> bool:
        """Return whether it is about the training mode of a module."""
        return self.subject.endswith(".training")


def is_of_call(found: Refused) -> bool:
    """Return whether a refusal is about how a call was made: the state around it, or one tensor passed twice."""
    is_autocast = found.aspect == "dispatch keys" and ("Autocast" in found.expected) != ("Autocast" in found.actual)
    return found.is_state or found.is_mode or is_autocast or found.aspect == "the same object"


def refused(refusal: Refusal) -> list[Refused]:
    """Return all differences for which an entry refused, or only torch's own if no others are known."""
    found = [_read(refusal.entry, text) for text in refusal.explained or refusal.clauses]
    if any(map(_is_of_inference, found)):
        return [replace(each, source="inference_mode") if each.source == "grad_mode" else each for each in found]
    return found


def _is_of_inference(each: Refused) -> bool:
    """Return whether only one of the expected and the actual tensor was made under `inference_mode`."""
    keys = ("ADInplaceOrView" in text for text in (each.expected, each.actual))
    same_device = each.expected.split(",")[0] == each.actual.split(",")[0].removesuffix("'")
    return each.aspect == "dispatch keys" and len(set(keys)) == 2 and same_device


def _read(entry: str, text: str) -> Refused:
    found = _EXPLAINED.match(text) or _MISMATCH.match(text)
    if found is None:
        return _of_torch(entry, text)
    parts = found.groupdict()
    aspect = _ASPECT.match(parts["subject"])
    source = aspect["source"] if aspect else parts["subject"]
    name = aspect["aspect"] if aspect else parts.get("aspect") or ""
    expected = parts["expected"]
    if not name and expected.startswith(_OF_LENGTH):
        name, expected = "length", expected.removeprefix(_OF_LENGTH)
    elif not name and (number := _OF_NUMBER.match(expected)):
        name, expected = NUMBER_OF_KEYS, number["number"]
    actual, small = parts["actual"] or "", _AT_LEAST_TWO.match(source) if not name and expected == "true" else None
    if small is not None and (value := _VALUE.search(actual)) is not None:
        source, name, expected, actual = small["tensor"], f"dimension {small['dimension']}", "2 or more", value["value"]
    return Refused(entry, source, name, expected, actual, parts.get("where") or "", text)


def _of_torch(entry: str, text: str) -> Refused:
    """Parse a clause of torch's own, which gives the expected but not the actual value."""
    state, length, equal, empty, key = (each.match(text) for each in (_CHANGED, _LENGTH, _EQUAL, _EMPTY, _CONTAINS))
    if state is not None:
        return Refused(entry, state["subject"], "", "", "", "", text)
    if length is not None:
        return Refused(entry, length["subject"], "length", length["expected"], "", length["where"] or "", text)
    if key is not None:
        expected = f"has {'no ' if key['not'] else ''}key {key['key']}"
        return Refused(entry, key["subject"], "", expected, "", key["where"] or "", text)
    if empty is not None:
        return Refused(entry, empty["subject"], "length", "0", "", empty["where"] or "", text)
    if equal is not None:
        return Refused(entry, equal["subject"], "", equal["expected"], "", equal["where"] or "", text)
    return Refused(entry, "", "", "", "", "", text)
