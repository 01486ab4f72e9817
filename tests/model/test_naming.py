"""What a reader calls a function of torch's that stands for one of the user's."""

from __future__ import annotations

import pytest

from depyf.findings import findings
from depyf.links.line_states import FunctionLines, LineState
from depyf.model.naming import title
from depyf.model.run import CacheEvent, Compile, CompileId, Function, Guard, GuardSet, Session


def of_torch(name: str, file: str, qualname: str, *clauses: str) -> Function:
    function = Function("0", name, f"torch/{file}", 1, "", "0", qualname=qualname)
    compiled = Compile(CompileId(0, 0), name, function.filename, 1)
    compiled.guards = GuardSet(tuple(Guard("TYPE_MATCH", "", "", clause, None) for clause in clauses))
    function.compiles.append(compiled)
    return function


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ('L["args"][0].__class__ is SGD', "SGD.step (its hooks)"),
        ('L["args"][1].__class__ is SGD', "Optimizer.profile_hook_step.wrapper"),
    ],
)
def test_the_hooks_of_an_optimizer_are_named_for_its_step(clause: str, said: str) -> None:
    function = of_torch("wrapper", "optim/optimizer.py", "Optimizer.profile_hook_step.wrapper", clause)
    assert title(function) == said


@pytest.mark.parametrize(
    ("clause", "said"), [('type(L["fn"]) is Linear', "Linear.forward"), ('type(L["x"]) is Linear', "wrap_inline.inner")]
)
def test_a_module_of_torchs_that_is_compiled_is_named(clause: str, said: str) -> None:
    assert title(of_torch("inner", "_dynamo/external_utils.py", "wrap_inline.inner", clause)) == said


def test_a_cause_has_no_addresses() -> None:
    function = of_torch("f", "f.py", "f")
    event = CacheEvent("FX graph", "bypass", "", "cannot pickle <Pass object at 0x7f613ba8d9e0>", 0.0, None)
    function.compiles[0].caches.append(event)
    run = Session("2.13", "3.11")
    run.functions["0"] = function
    (finding,) = findings(run)
    assert "cannot pickle <Pass>" in finding.cause and "0x" not in finding.cause


def test_one_line_is_told_as_one() -> None:
    one_line = FunctionLines("f", "f.py", 1, {2: LineState.GRAPH})
    assert one_line.words == "the one line of `f` runs in a graph"
    assert FunctionLines("f", "f.py", 1, {2: LineState.NEVER}).words.endswith("runs in no graph (never compiled)")
