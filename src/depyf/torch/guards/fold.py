"""Fewer clauses for the reader: what torch checks in several guards, but everybody sees as one thing.

Before                                              After
    global_state(grad_mode=True, ...)                   global_state(grad_mode=True, ...)
    global_state(torch_function_modes=())
    global_state(default_device=None)
    type(L["x"]) is torch.Tensor                        tensor(L["x"], torch.Tensor, torch.float32, ...)
    tensor(L["x"], torch.Tensor, torch.float32, ...)
    marked(L["x"], {})
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from depyf.torch.guards.clause import Clause, Text
from depyf.torch.guards.kinds.ambient import spelled
from depyf.torch.guards.verdicts import ambient
from depyf.torch.guards.verdicts.difference import ANY

_MARKS = "marked("
_TENSOR = "TENSOR_MATCH"
_CONSTANT = frozenset({"EQUALS_MATCH", "TRUE_MATCH", "FALSE_MATCH", "NONE_MATCH", "FLOAT_IS_NAN", "COMPLEX_IS_NAN"})


def fold(clauses: Sequence[Clause]) -> list[Clause]:
    """Return `clauses` with the same meaning and no clause that another one implies."""
    return _without_repeats(_without_implied_types(_tensors(_global_state(clauses))))


def _global_state(clauses: Sequence[Clause]) -> list[Clause]:
    """Make one clause of those on torch's flags; a flag of this torch's that no guard looks at may have any value."""
    states = [clause for clause in clauses if clause.flags is not None]
    if not states:
        return list(clauses)
    flags: dict[str, object] = {flag: ANY for flag in ambient.looked_at() if flag in ambient.USUAL}
    for clause in states:
        flags.update(clause.flags or {})
    first = next(clause for clause in states)
    arguments = spelled(flags)
    one = replace(
        first,
        kind="GLOBAL_STATE",
        text=("global_state(", *arguments, ")"),
        differences=("global_state_differences(", *arguments, ")"),
        torch_text=" and ".join(clause.torch_text for clause in states),
        check=_all_of([clause.check for clause in states]),
    )
    return [one if clause is first else clause for clause in clauses if clause is first or clause.flags is None]


def _all_of(checks: Sequence[Callable[[object], bool] | None]) -> Callable[[object], bool] | None:
    known = [check for check in checks if check is not None]
    return (lambda value: all(check(value) for check in known)) if len(known) == len(checks) else None


def _tensors(clauses: Sequence[Clause]) -> list[Clause]:
    """Put the marks of a tensor's dimensions into the clause on the tensor, and drop the one on its type."""
    marks = {clause.node: clause for clause in clauses if clause.text[0] == _MARKS}
    tensors = {clause.node: clause for clause in clauses if clause.kind == _TENSOR and not clause.calls_through}
    folded: list[Clause] = []
    for clause in clauses:
        tensor, mark = tensors.get(clause.node), marks.get(clause.node)
        if tensor is None:
            folded.append(clause)
        elif clause is tensor:
            folded.append(_with_marks(clause, mark))
        elif clause is not mark and not (clause.kind == "TYPE_MATCH" and clause.pins is tensor.pins):
            folded.append(clause)
    return folded


def _with_marks(tensor: Clause, mark: Clause | None) -> Clause:
    """Return the clause on a tensor that looks at marks too: none are usual, and `ANY` if torch does not look."""
    wanted = "ANY" if mark is None else str(mark.text[-2]).removeprefix(", ")
    argument = "" if wanted == "{}" else f", marks={wanted}"

    def extended(text: Text) -> Text:
        return (*text[:-1], argument, ")")

    check = tensor.check if mark is None else _all_of([tensor.check, mark.check])
    return replace(tensor, text=extended(tensor.text), differences=extended(tensor.differences), check=check)


def _without_implied_types(clauses: Sequence[Clause]) -> list[Clause]:
    """Drop the clause on the type of a value that another one compares with a constant: that looks at the type too."""
    constant = {clause.node for clause in clauses if clause.kind in _CONSTANT and not clause.calls_through}
    return [clause for clause in clauses if clause.kind != "TYPE_MATCH" or clause.node not in constant]


def _without_repeats(clauses: Sequence[Clause]) -> list[Clause]:
    """Drop a clause that says again what an earlier one says."""
    seen: dict[Text, Clause] = {}
    for clause in clauses:
        seen.setdefault(clause.text, clause)
    return list(seen.values())
