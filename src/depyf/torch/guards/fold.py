"""Merge clauses that torch checks in several guards and that a reader sees as one.

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
    """Return `clauses` with the same meaning, without clauses that another one implies."""
    return _without_repeats(_without_implied_types(_tensors(_global_state(clauses))))


def _global_state(clauses: Sequence[Clause]) -> list[Clause]:
    """Merge the clauses on torch's flags. A flag of this torch that no guard checks may have any value."""
    states = [clause for clause in clauses if clause.flags is not None]
    if not states:
        return list(clauses)
    flags: dict[str, object] = {flag: ANY for flag in ambient.looked_at() if flag in ambient.USUAL}
    for clause in states:
        flags.update(clause.flags or {})
    first = next(clause for clause in states)
    arguments = spelled(flags)
    merged = replace(
        first,
        kind="GLOBAL_STATE",
        text=("global_state(", *arguments, ")"),
        differences=("global_state_differences(", *arguments, ")"),
        torch_text=" and ".join(clause.torch_text for clause in states),
        check=_all_of([clause.check for clause in states]),
    )
    return [merged if clause is first else clause for clause in clauses if clause is first or clause.flags is None]


def _all_of(checks: Sequence[Callable[[object], bool] | None]) -> Callable[[object], bool] | None:
    known = [check for check in checks if check is not None]
    return (lambda value: all(check(value) for check in known)) if len(known) == len(checks) else None


def _tensors(clauses: Sequence[Clause]) -> list[Clause]:
    """Merge the marks of a tensor's dimensions into the clause on the tensor, and drop the clause on its type."""
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
    """Return the clause on a tensor with marks: none are usual, and `ANY` means that torch does not check them."""
    wanted = "ANY" if mark is None else str(mark.text[-2]).removeprefix(", ")
    argument = "" if wanted == "{}" else f", marks={wanted}"

    def extended(text: Text) -> Text:
        return (*text[:-1], argument, ")")

    check = tensor.check if mark is None else _all_of([tensor.check, mark.check])
    return replace(tensor, text=extended(tensor.text), differences=extended(tensor.differences), check=check)


def _without_implied_types(clauses: Sequence[Clause]) -> list[Clause]:
    """Drop the clause on the type of a value if another clause compares the value, and its type, with a constant."""
    constant = {clause.node for clause in clauses if clause.kind in _CONSTANT and not clause.calls_through}
    return [clause for clause in clauses if clause.kind != "TYPE_MATCH" or clause.node not in constant]


def _without_repeats(clauses: Sequence[Clause]) -> list[Clause]:
    """Drop a clause that repeats an earlier one."""
    seen: dict[Text, Clause] = {}
    for clause in clauses:
        seen.setdefault(clause.text, clause)
    return list(seen.values())
