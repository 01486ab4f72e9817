"""A number that Python draws or reads inside of a graph comes from an operator, which the graph calls.

before, in a module that another one calls:
    gain = np.random.uniform(0.8, 1.2)
after:
    gain = draw_19()
and below the class:
    @torch.library.custom_op("draws::draw_19", mutates_args=())
    def draw_19() -> torch.Tensor:
        return torch.tensor(float(np.random.uniform(0.8, 1.2)))

It is for functions that are not compiled by their name, whose callers cannot pass the number. The operator has an
effect, so that each call draws, in the order of the program. A branch on the number becomes a choice of values.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence

import libcst as cst
import libcst.matchers as m

from depyf.findings import Finding
from depyf.fix.edit import Edit, RefusedError, proposer, subject_of
from depyf.fix.edits.branches import chosen
from depyf.fix.edits.drawn import FORMS, is_drawn
from depyf.fix.edits.guarded import guarded
from depyf.fix.trees import (
    Statement,
    after_definition_of,
    after_import_of_torch,
    names_of_module,
    replace_statement,
    statement,
)
from depyf.model.index_reader import Run

KINDS = frozenset(("break-random", "break-numpy-random", "break-c-extension"))
"""Not a time: torch keeps the order of operators with an effect, and not that of the work between them."""
WHOLE = ("randint(", "randrange(", "integers(", "getrandbits(")
"""Functions that draw a whole number."""


@proposer
def drawn_by_operators(run: Run, finding: Finding) -> Iterator[Edit]:
    """Yield the operator for a number that is drawn at the line of a finding."""
    where = finding.where
    if finding.kind in KINDS and where is not None:
        what = "an operator draws the number, and the graph calls it"
        yield Edit(where.file, where.line, what, subject_of(finding), drawn_inside, is_quiet=True)


def drawn_inside(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the number that is drawn at a line as the result of an operator.

    Raises:
        RefusedError: no such number is drawn there, it depends on values of the function, or a branch on it does more
            than choose values.
    """
    name = f"draw_{line}"
    after_import_of_torch(module, name)  # refuses a file without torch
    known = names_of_module(module) | set(dir(builtins))
    drawn: list[str] = []
    branches: list[bool] = []

    def change(stmt: Statement) -> Sequence[Statement]:
        place = stmt.test if isinstance(stmt, cst.If) else stmt
        calls = [call for call in m.findall(place, m.Call()) if is_drawn(module, call, known)]
        if not calls or not isinstance(stmt, (cst.If, cst.SimpleStatementLine)):
            raise RefusedError("the line draws no number that depends on nothing of the function")
        call = max(calls, key=lambda candidate: len(module.code_for_node(candidate)))
        drawn.append(module.code_for_node(call))
        branches.append(isinstance(stmt, cst.If))
        if not branches[0]:
            return [cst.ensure_type(stmt.deep_replace(call, cst.Call(cst.Name(name))), cst.SimpleStatementLine)]
        branch = cst.ensure_type(stmt.deep_replace(call, cst.Name(f"number_{line}")), cst.If)
        first = statement(f"number_{line} = {name}()").with_changes(leading_lines=stmt.leading_lines)
        return [first, branch.with_changes(leading_lines=())]

    changed = replace_statement(module, line, change)
    if branches[0]:
        changed = _without_branch(changed, line + 1)
    return after_definition_of(changed, line, _operator(name, drawn[0]))


def _without_branch(module: cst.Module, line: int) -> cst.Module:
    """Return the module with the branch at a line as a choice of values."""
    try:
        return replace_statement(module, line, chosen)
    except RefusedError:
        return guarded(module, line)


def _operator(name: str, text: str) -> list[cst.BaseStatement]:
    """Return the definition of the operator that draws a number.

    Args:
        name: the name of the operator.
        text: the expression that draws.
    """
    form = next((form for start, form in FORMS.items() if text.startswith(start)), "torch.tensor({})")
    dtype = ", dtype=torch.int64" if any(word in text for word in WHOLE) else ""
    blank = [cst.EmptyLine(indent=False)] * 2
    rows = (
        f'@torch.library.custom_op("draws::{name}", mutates_args=())\n'
        f"def {name}() -> torch.Tensor:\n    return {form.format(text)}\n",
        f"@{name}.register_fake\ndef {name}_fake():\n    return torch.empty((){dtype})\n",
    )
    definitions = [cst.parse_statement(row).with_changes(leading_lines=blank) for row in rows]
    effect = statement(f"{name}.register_effect(torch.library.EffectType.ORDERED)")
    return [*definitions, effect.with_changes(leading_lines=blank)]
