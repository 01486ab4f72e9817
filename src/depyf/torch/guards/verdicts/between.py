"""How the guards of two entries of one function differ, which explains why there is a second one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from depyf.bytecode.records import dataclass
from depyf.model.names import without_count
from depyf.model.run import Guard, GuardSet
from depyf.torch.guards.verdicts.ambient import USUAL


@dataclass(frozen=True, slots=True)
class Contrast:
    """One respect in which two entries differ; "" stands for an entry without this guard.

    `source` is the value that the guards check, or "" for the state around the call. `aspect` is an argument of the
    guard (`size`), or "" if the whole clause differs.
    """

    source: str
    aspect: str
    first: str
    second: str

    def words(self, first: str, second: str) -> str:
        """Return it as a sentence with the given names for the entries."""
        subject = f"{self.aspect} of {self.source}" if self.aspect and self.source else self.aspect or self.source
        if self.first and self.second:
            said = f"{first} asks for {self.first}, {second} for {self.second}"
            return f"{subject}: {said}" if subject else said
        asks, text = (first, self.first) if self.first else (second, self.second)
        if self.aspect:
            return f"{subject}: {asks} alone asks for {text}"
        return f"{asks} alone asks for {text}"


def contrasts(first: GuardSet, second: GuardSet) -> list[Contrast]:
    """Return every respect in which the guards of two entries differ.

    The common checks come first, then the checks of only the first entry, then of only the second, each in torch's
    order.
    """
    both: list[Contrast] = []
    alone: list[Contrast] = []
    ours, theirs = _by_subject(first), _by_subject(second)
    for subject in dict.fromkeys((*ours, *theirs)):
        mine, other = ours.get(subject, {}), theirs.get(subject, {})
        only_mine = [clause for clause in mine if clause not in other]
        only_other = [clause for clause in other if clause not in mine]
        if len(only_mine) == len(only_other) == 1:
            both += _within(subject[1], only_mine[0], only_other[0])
            continue
        alone += [Contrast(subject[1], "", clause, "") for clause in only_mine]
        alone += [Contrast(subject[1], "", "", clause) for clause in only_other]
    return both + sorted(alone, key=lambda contrast: contrast.first == "")


def _by_subject(guards: GuardSet) -> dict[tuple[str, str], dict[str, Guard]]:
    """Group the clauses by kind and value. A value may have several clauses of one kind."""
    grouped: dict[tuple[str, str], dict[str, Guard]] = {}
    for guard in guards.guards:
        subject = guard.kind, without_count(guard.source)
        grouped.setdefault(subject, {})[without_count(guard.clause)] = guard
    return grouped


def _within(source: str, first: str, second: str) -> Iterator[Contrast]:
    """Yield the arguments in which two clauses differ, or the clauses if they are not calls of one function."""
    mine, other = _arguments(first), _arguments(second)
    if mine is None or other is None or mine[""] != other[""]:
        yield Contrast(source, "", first, second)
        return
    for name in dict.fromkeys((*mine, *other)):
        if mine.get(name) != other.get(name):
            yield Contrast(source, name, _shown(name, mine.get(name, "")), _shown(name, other.get(name, "")))


def _shown(aspect: str, text: str) -> str:
    """Return a requirement in the words of a refusal: `any` number, which a guard writes as None."""
    return re.sub(r"\bNone\b", "any", text) if aspect in ("size", "stride") else text


_POSITIONS = {"tensor": ("value", "type", "dtype", "device"), "equals": ("value", "constant")}


@lru_cache(maxsize=64)
def _arguments(clause: str) -> Mapping[str, str] | None:
    """Return the arguments of a call by name, and the function under ""; None if it is no plain call."""
    match ast.parse(clause, mode="eval").body:
        case ast.Call(func=ast.Name(id=function), args=positional, keywords=keywords):
            names = _POSITIONS.get(function, ())
            given = {
                names[at] if at < len(names) else f"argument {at + 1}": ast.unparse(argument)
                for at, argument in enumerate(positional)
            }
            usual = {name: repr(value) for name, value in USUAL.items()} if function == "global_state" else {}
            return {
                "": function,
                **usual,
                **given,
                **{str(keyword.arg): ast.unparse(keyword.value) for keyword in keywords},
            }
    return None
