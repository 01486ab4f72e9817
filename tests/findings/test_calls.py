"""Recompiles of a function and of its resume functions in one call are one event; other calls are other events."""

from __future__ import annotations

from dataclasses import replace

from depyf.findings import Finding, findings
from depyf.findings.nearest import independent
from depyf.model.run import Compile, CompileId, Function, Recompile
from tests.findings.test_causes import CALL, run_of
from tests.sentences import failed, failure

SOURCE = """def f(x, weight, mode):
    y = x + weight
    torch._dynamo.graph_break()
    return help(y, mode)
"""
OF_WEIGHT = 'requires_grad of L["weight"]: expected False, got True'
OF_Y = 'requires_grad of L["y"]: expected False, got True'
GRADIENTS = "grad_mode: expected True, got False"
TRAINING = 'L["self"].dropout.training: expected True, got False'
OF_MODE = "L[\"mode\"]: expected 'a', got 'b'"


def _function(frame: int, *recompiles: tuple[int, str]) -> Function:
    """Return a function of frame 0, or its resume function of frame 1, with a first call and recompiles in others."""
    name = "torch_dynamo_resume_in_f_at_3" if frame else "f"
    resumed = Function(str(frame), name, "f.py", 1, SOURCE, "0", parameters=("x", "weight", "mode"))
    if frame:
        resumed.resumes_at, resumed.break_line = 4, 3
    resumed.compiles.append(Compile(CompileId(frame, 0), name, "f.py", 1, user_stack=(CALL,), order=frame, call=1))
    for number, (call, text) in enumerate(recompiles, 1):
        again = Compile(CompileId(frame, number), name, "f.py", 1, user_stack=(CALL,), order=10 * call + frame)
        again.call, again.trigger = call, Recompile((failed(f"{frame}/{number - 1}", (text,), (text,)),))
        resumed.compiles.append(again)
    return resumed


def _told(*functions: Function) -> tuple[Finding, ...]:
    return findings(run_of(*functions))


def test_what_differs_behind_a_break_in_the_same_call_is_the_same_event() -> None:
    (finding,) = _told(_function(0, (2, OF_WEIGHT)), _function(1, (2, OF_MODE)))
    assert finding.compiles == ("0/1", "1/1")
    assert "requires_grad of `weight`" in finding.cause
    assert "; in the same calls also the string `mode`" in finding.cause


def test_what_differs_behind_a_break_in_a_later_call_is_another_event() -> None:
    both = _told(_function(0, (2, OF_WEIGHT)), _function(1, (3, OF_MODE)))
    assert sorted(finding.compiles for finding in both) == [("0/1",), ("1/1",)]
    assert not any("in the same calls" in finding.cause for finding in both)


def test_calls_that_are_not_counted_are_not_joined() -> None:
    whole, rest = _function(0, (2, OF_WEIGHT)), _function(1, (2, OF_MODE))
    for compiled in (*whole.compiles, *rest.compiles):
        compiled.call = None
    assert len(_told(whole, rest)) == 2


def test_a_variable_that_the_function_assigned_follows_from_its_argument() -> None:
    (finding,) = _told(_function(0, (2, OF_WEIGHT)), _function(1, (2, OF_Y)))
    assert finding.compiles == ("0/1", "1/1")
    assert "`weight`" in finding.cause
    assert "`y`" not in finding.cause


def test_a_variable_follows_from_an_argument_of_an_entry_that_existed() -> None:
    (finding,) = _told(_function(0, (2, OF_WEIGHT)), _function(1, (4, OF_Y)))
    assert finding.compiles == ("0/1", "1/1")
    assert "requires_grad of `weight`" in finding.cause


def test_a_number_that_the_data_decide_follows_from_no_argument() -> None:
    both = _told(_function(0, (2, OF_MODE)), _function(1, (4, 'L["y"]: expected 3, got 4')))
    assert sorted(finding.compiles for finding in both) == [("0/1",), ("1/1",)]


def test_a_condition_on_a_stride_follows_from_another_stride_of_the_tensor() -> None:
    stride = failure('stride of L["x"]: expected (1, any), got (3, 1)')
    condition = failure("2 <= L[\"x\"].stride()[1]: expected true, got L['x'].stride()[1] = 1")
    assert list(independent([stride, condition])) == [stride]
    other = replace(stride, source='L["y"]')
    assert list(independent([other, condition])) == [other, condition]


def test_a_dtype_follows_only_from_a_default_dtype_that_changed_alike() -> None:
    default = failure("default_dtype: expected torch.float64, got torch.float32")
    alike = failure('dtype of L["x"]: expected torch.float64, got torch.float32')
    complex_one = failure('dtype of L["x"]: expected torch.complex128, got torch.complex64')
    other = failure('dtype of L["x"]: expected torch.float32, got torch.float64')
    assert list(independent([default, alike])) == [default]
    assert list(independent([default, complex_one])) == [default]
    assert list(independent([default, other])) == [default, other]


def test_one_call_that_needs_an_entry_in_each_part_of_a_function_is_expected() -> None:
    whole, rest = _function(0, (2, GRADIENTS)), _function(1, (2, GRADIENTS))
    texts = (GRADIENTS, TRAINING)
    rest.compiles[1].trigger = Recompile((failed("1/0", texts, texts),))
    (finding,) = _told(whole, rest)
    assert (finding.kind, finding.severity, finding.compiles) == ("grad-mode", "low", ("0/1", "1/1"))
    assert "; expected: " in finding.cause
