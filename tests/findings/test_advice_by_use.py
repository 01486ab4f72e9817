"""Fixes that fit the use of a value, and no mark on a dimension that raises or has no effect."""

from __future__ import annotations

from dataclasses import replace

import pytest

from depyf.findings import findings
from depyf.findings.reasons import reason_of
from depyf.model.finding import Finding
from depyf.model.flags import shapes_result
from depyf.model.guard_failure import Check
from depyf.model.parts import ShapeFact
from depyf.model.run import Compile, CompileId, Function, Guard, GuardSet, Recompile
from tests.findings.test_causes import CALL, function, run_of
from tests.sentences import failed, failure


def tensor(source: str, size: str) -> Guard:
    """Return the guard for a tensor of some size."""
    return Guard("TENSOR_MATCH", source, "", f'tensor({source}, torch.Tensor, torch.float32, "cpu", size={size})')


def relation(clause: str) -> Guard:
    """Return the guard for a relation between sizes or numbers."""
    return Guard("LAMBDA_GUARD", "", "", clause)


def guards(made: Function, *rows: tuple[Guard, ...]) -> Function:
    """Give the entries of a function their guards."""
    for compiled, row in zip(made.compiles, rows, strict=True):
        compiled.guards = GuardSet(row)
    return made


def again(made: Function, *texts: str) -> None:
    """Add a recompile of a function, for guard failures of its last entry."""
    number = len(made.compiles)
    last = Compile(CompileId(0, number), made.name, made.filename, 1, user_stack=(CALL,), order=10 + number)
    last.trigger = Recompile((failed(f"0/{number - 1}", texts, texts),))
    made.compiles.append(last)


def said(made: Function) -> Finding:
    """Return the only finding."""
    (finding,) = findings(run_of(made))
    return finding


def resized(name: str = "x") -> Function:
    """Return a function that was compiled again for the number of rows of an argument."""
    return function(0, "f", "f.py", (CALL,), 10, f'size of L["{name}"]: expected (4, 3), got (6, 3)')


X, ANY = tensor('L["x"]', "(4, 3)"), tensor('L["x"]', "(None, 3)")


def test_a_size_that_other_tensors_share_is_not_marked_alone() -> None:
    made = guards(
        resized(),
        (X, tensor('L["mask"]', "(4, 4)")),
        (ANY, tensor('L["mask"]', "(None, None)"), relation('L["mask"].size()[1] == L["x"].size()[0]')),
    )
    assert said(made).fix == (
        "compile with `dynamic=True`: torch raises an exception if only `x` is marked, because `mask` must have the "
        "same size"
    )


def test_a_relation_that_allows_the_first_size_does_not_prevent_a_mark() -> None:
    made = guards(resized(), (X,), (ANY, relation('2 <= L["x"].size()[0]')))
    assert "mark_dynamic" in said(made).fix


def test_a_mark_is_not_offered_where_the_first_call_needs_an_entry_of_its_own() -> None:
    made = guards(resized(), (X,), (ANY, relation('(L["x"].size()[0] // 5) == 1')))
    assert said(made).fix == ""
    made.source = "def f(x, mode):\n    if missing:\n        x = F.pad(x, (0, missing))\n    return x\n"
    pad = "call `F.pad` in every call, without `if missing`: a pad of 0 changes nothing"
    assert said(made).fix.startswith(pad)


def test_a_mark_is_not_offered_where_an_entry_needs_the_number() -> None:
    made = guards(resized(), (X,), (tensor('L["x"]', "(6, 3)"),))
    assert "mark_dynamic" in said(made).fix
    again(made, 'size of L["x"]: expected (6, 3), got (7, 3)')
    made.compiles[2].guards = GuardSet((tensor('L["x"]', "(7, 3)"),))
    made.compiles[2].shapes.append(ShapeFact("symbolic_shape_specialization", "s0", "7", None))
    assert "mark_dynamic" not in said(made).fix


def test_a_mark_on_a_buffer_is_not_offered() -> None:
    source = 'L["self"].__dict__["_buffers"]["keys"]'
    made = function(0, "f", "f.py", (CALL,), 10, f"size of {source}: expected (4, 3), got (6, 3)")
    assert "force_parameter_static_shapes = False" in said(made).fix and "mark_dynamic" not in said(made).fix


def test_parameters_of_parts_need_both_switches() -> None:
    source = 'L["self"].__dict__["_modules"]["first"].__dict__["_parameters"]["bias"]'
    made = function(0, "f", "f.py", (CALL,), 10, f"size of {source}: expected (4,), got (6,)")
    of_part = replace(failure(f"size of {source}: expected (4,), got (6,)"), type="torch.nn.parameter.Parameter")
    for checked, has_both in ((of_part, True), (replace(of_part, source='L["weight"]'), False)):
        fix = reason_of(made, made, made.compiles[1], checked).fix
        assert "force_parameter_static_shapes" in fix
        assert ("force_nn_module_property_static_shapes" in fix) == has_both


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("self.keys[self.n] = key", "and write with `self.keys.index_copy_(0, self.n.reshape(1), key[None])`"),
        ("return self.keys[self.n]", "and read with `self.keys.index_select(0, self.n.reshape(1))[0]`"),
        ("return x * self.n", "change it in place with `fill_`"),
        ("return x * self.rates[self.n]", "look up `self.rates[self.n]` before the call, and pass the result"),
    ],
)
def test_a_number_that_is_an_index_becomes_a_tensor_with_its_operation(line: str, fix: str) -> None:
    made = function(0, "f", "f.py", (CALL,), 10, 'L["self"].__dict__["n"]: expected 2, got 5')
    keys = tensor('L["self"].__dict__["_buffers"]["keys"]', "(16, 4)")
    made = guards(made, (keys,), (keys, relation('L["self"].__dict__["n"] == 5')))
    made.source = f"def f(self, x, key):\n    {line}\n"
    assert fix in said(made).fix


def test_a_list_of_indices_is_one_cause_and_becomes_one_tensor() -> None:
    line = "  (f.py:2 return x[rows])"
    made = function(0, "f", "f.py", (CALL,), 10, f'L["rows"][0]: expected 2, got 3{line}')
    again(made, f'L["rows"]: expected length 2, got 3{line}')
    again(made, f'L["rows"]: expected length 3, got 4{line}')
    made.source = "def f(x, rows):\n    return x[rows]\n"
    finding = said(made)
    assert finding.compiles == ("0/1", "0/2", "0/3")
    assert "`rows[0]` changed in other calls" in finding.cause
    assert finding.fix.startswith("pass `torch.tensor(rows)`, made before the call, instead of the list")


def test_flags_of_a_list_become_one_tensor() -> None:
    line = "  (f.py:2 return x if forced[step] else y)"
    made = function(0, "f", "f.py", (CALL,), 10, f'L["forced"][0]: expected False, got True{line}')
    again(made, f'L["forced"][1]: expected False, got True{line}')
    made.source = "def f(x, y, forced, step):\n    return x if forced[step] else y\n"
    assert said(made).fix == (
        "pass all of `forced` as one tensor, `torch.tensor(forced)`, and choose with `torch.where(forced[step], x, y)`"
    )


def test_a_number_that_an_entry_requires_is_not_expected() -> None:
    made = function(0, "f", "f.py", (CALL,), 10, 'L["n"]: expected 2, got 5')
    integer = Guard("TYPE_MATCH", 'L["n"]', "", 'type(L["n"]) is int')
    assert said(guards(made, (), (integer,))).severity == "low"
    assert said(guards(made, (), (integer, relation('L["n"] == 5')))).severity == "medium"


def test_results_of_two_shapes_are_not_chosen_with_where() -> None:
    body = "def f(x, flag):\n    return {} if flag else {}"
    assert shapes_result("flag", body.format("x.cumsum(1)", "x[:, -1]"))
    assert shapes_result("flag", body.format("x.sum(0)", "x"))
    assert not shapes_result("flag", body.format("x[0]", "x[1]"))
    assert not shapes_result("flag", body.format("x.relu()", "x.tanh()"))


def test_the_last_value_of_a_number_that_grows_is_said() -> None:
    line = "  (f.py:2 return x * rates[n])"
    made = function(0, "f", "f.py", (CALL,), 10, f'L["n"]: expected 0, got 1{line}')
    for number in (1, 2):
        again(made, f'L["n"]: expected {number}, got {number + 1}{line}')
        values = (('L["n"]', str(number + 1)),)
        entry = made.compiles[-1].trigger.entries[0]
        condition = replace(
            entry.failures[0],
            source=f'L["n"] == {number}',
            check=Check.CONDITION,
            expected="",
            actual="",
            values=values,
        )
        made.compiles[-1].trigger = Recompile((replace(entry, failures=(condition,)),))
    made.source = "def f(x, n):\n    return x * rates[n]\n"
    assert "`n` was 3, not 2; it grows by 1 from one recompile to the next" in said(made).cause
    made.source = "def f(x, n):\n    return layers[n](x)\n"
    assert said(made).fix.startswith("choose `layers[n]` outside of the compiled function, and compile what you choose")


def test_a_learning_rate_that_becomes_a_number_stays_a_tensor() -> None:
    source = 'L["self"].param_groups[0]["lr"]'
    made = function(
        0, "step", "torch/optim/sgd.py", (CALL,), 10, f"class of {source}: expected torch.Tensor, got float"
    )
    assert '`param_groups[0]["lr"].fill_(rate)`' in said(made).fix


def test_many_calls_of_the_last_entry_make_a_finding_less_loud() -> None:
    made = function(0, "f", "f.py", (CALL,), 10, "L[\"mode\"]: expected 'a', got 'b'")
    for first, second in ("bc", "cd"):
        again(made, f"L[\"mode\"]: expected '{first}', got '{second}'")
    for hits, severity in ((1, "high"), (None, "high"), (3, "medium")):
        made.compiles[-1].hits = hits
        assert said(made).severity == severity


def test_a_number_carried_over_a_break_is_named_beside_a_size() -> None:
    texts = 'L["___stack0"]: expected 0, got 6', 'size of L["x"]: expected (2, 6), got (2, 1)'
    made = function(0, "f", "f.py", (CALL,), 10, *texts)
    assert "in this call also the number carried over the graph break was 6, not 0" in said(made).cause


def test_a_fix_that_avoids_nothing_is_not_offered() -> None:
    texts = 'dtype of L["x"]: expected torch.float32, got torch.float16', "L[\"mode\"]: expected 'a', got 'b'"
    made = function(0, "f", "f.py", (CALL,), 10, *texts)
    made.source = "def f(self, x, mode):\n    return x.to(mode)\n"
    assert said(made).fix == ""
    made.source = "def f(self, x, mode):\n    return x * FACTORS[mode]\n"
    assert "`x.to(torch.float32)`. Also look up values that depend on `mode`" in said(made).fix


def test_a_list_of_numbers_says_why_it_has_no_fix() -> None:
    made = function(0, "f", "f.py", (CALL,), 10, 'L["x"]: expected length 1, got 2')
    made.compiles[1].guards = GuardSet((Guard("EQUALS_MATCH", 'L["x"][0]', "", ""),))
    assert (said(made).fix, said(made).cause.endswith("; each length needs an entry of its own")) == ("", True)


def test_an_entry_whose_relations_hold_for_one_size_alone_serves_no_other() -> None:
    relations = [relation(clause) for clause in ('(L["x"].size()[0] % 6) == 0', '(L["x"].size()[0] // 6) == 1')]
    assert said(guards(resized(), (X,), (ANY, relations[0]))).severity == "low"
    assert said(guards(resized(), (X,), (ANY, *relations))).severity == "medium"
