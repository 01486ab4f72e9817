"""Every recompile belongs to one event; what every program has is expected."""

from __future__ import annotations

from depyf.findings import findings
from depyf.model.failure import Failure
from depyf.model.run import Compile, CompileId, Recompile
from tests.findings.test_causes import CALL, function, run_of
from tests.sentences import failed


def test_what_differs_in_the_first_call_in_another_mode_is_one_expected_event() -> None:
    texts = ("grad_mode: expected True, got False", 'size of L["x"]: expected (16, 8), got (32, 8)')
    (finding,) = findings(run_of(function(0, "net", "net.py", (CALL,), 10, *texts, 'L["mode"]: expected 1, got None')))
    assert (finding.kind, finding.severity) == ("grad-mode", "low")
    assert [difference.kind for difference in finding.also] == ["tensor-size", "argument-none"]
    assert "; expected: " in finding.cause


def test_two_functions_that_one_line_calls_share_no_cause() -> None:
    text = 'L["factor"]: expected 1.0, got 2.0'
    run = run_of(function(0, "f", "f.py", (CALL,), 10, text), function(1, "g", "g.py", (CALL,), 11, text))
    assert [finding.compiles for finding in findings(run)] == [("0/1",), ("1/1",)]


def test_one_smaller_batch_is_expected_and_a_larger_one_is_not() -> None:
    for actual, severity in (("(6, 8)", "low"), ("(20, 8)", "medium")):
        text = f'size of L["x"]: expected (16, 8), got {actual}'
        (finding,) = findings(run_of(function(0, "net", "net.py", (CALL,), 10, text)))
        assert (finding.kind, finding.severity) == ("tensor-size", severity)


def test_the_limit_names_what_each_cause_needs_by_itself() -> None:
    net_function = function(0, "f", "f.py", (CALL,), 10, "L[\"mode\"]: expected 'a0', got 'a1'")
    for number in range(2, 8):
        again = Compile(CompileId(0, number), "f", "f.py", 1, user_stack=(CALL,), order=10 + number)
        texts = ("grad_mode: expected True, got False",)
        if number % 2 == 0:
            texts = tuple(f"L[\"{name}\"]: expected 'a{number - 2}', got 'a{number}'" for name in ("mode", "style"))
        again.trigger = Recompile((failed(f"0/{number - 1}", texts, texts),))
        net_function.compiles.append(again)
    past = Compile(CompileId(0, 8), "f", "f.py", 1, user_stack=(CALL,), order=30)
    past.failure = Failure("FailOnRecompileLimitHit", "recompile_limit reached", None)
    net_function.compiles.append(past)
    limit, gradients = findings(run_of(net_function))
    assert (limit.kind, gradients.kind, gradients.severity) == ("recompile-limit", "grad-mode", "low")
    assert limit.cause.endswith("recompiles for each cause alone: `mode` with `style` 4, gradients on and off 1")
    counted = [*limit.compiles, *gradients.compiles]
    assert sorted(counted) == sorted({*counted}), "each compile is in one finding"


def test_a_default_device_and_a_device_context_are_two_events() -> None:
    modes = "torch_function_modes: expected (), got (torch.utils._device.DeviceContext)"
    net_function = function(0, "f", "f.py", (CALL,), 10, "default_device: expected None, got 'meta'", modes)
    later = Compile(CompileId(0, 2), "f", "f.py", 1, user_stack=(CALL,), order=11)
    device = ("default_device: expected 'meta', got None",)
    later.trigger = Recompile((failed("0/0", (modes,), (modes,)), failed("0/1", device, device)))
    net_function.compiles.append(later)
    assert [(finding.kind, finding.compiles) for finding in findings(run_of(net_function))] == [
        ("default-device", ("0/1",)),
        ("device-context", ("0/2",)),
    ]
