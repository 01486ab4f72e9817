"""What a report says where the user does not own the value or the line."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from depyf.findings import findings
from depyf.model.lines_read import LinesRead
from depyf.model.parts import SIDE_EFFECTS
from depyf.model.run import GraphBreak, Recompile, SideEffect
from depyf.model.user_line import UserLine
from tests.findings.test_causes import CALL, SIZE, again, function, run_of

LIBRARY = contextlib.__file__
BELOW = UserLine("net.py", 4, "y = layer(ids)", "net")
"""A line of a compiled function that calls a library."""


def compiled(part: str, *lines: int) -> tuple[LinesRead, ...]:
    """Return the lines that torch read of a function in net.py."""
    return (LinesRead(part, "net.py", 3, lines, (), lines),)


def a_break(hint: str, *stack: UserLine) -> GraphBreak:
    """Return a graph break in a library."""
    where = UserLine(LIBRARY, 5, "x.sort(key=key)", "inner")
    return GraphBreak("Unsupported thing", "", (hint,), "", where, stack, 0, "")


def test_a_library_s_line_is_not_the_user_s_to_change() -> None:
    net_function = function(0, "net", "net.py", (CALL,), 10, SIZE)
    net_function.compiles[0].lines = compiled("net", 4)
    net_function.compiles[0].breaks = (a_break("Use something else as the key.", BELOW),)
    (finding,) = (candidate for candidate in findings(run_of(net_function)) if candidate.kind == "graph-break")
    assert str(finding.where) == "net.py:4"
    assert finding.fix.endswith("call it outside of the compiled function, before or after it")


def test_a_switch_that_torch_names_helps_in_a_library_too() -> None:
    net_function = function(0, "inner", LIBRARY, (CALL,), 10, SIZE)
    net_function.compiles[0].breaks = (a_break("Set `torch._dynamo.config.capture_scalar_outputs = True` or more."),)
    (finding,) = (candidate for candidate in findings(run_of(net_function)) if candidate.kind == "graph-break")
    assert finding.fix == "set `torch._dynamo.config.capture_scalar_outputs = True` before the first call"


def test_the_call_of_a_compiled_function_cannot_move_out_of_it() -> None:
    net_function = function(0, "inner", LIBRARY, (CALL,), 10, SIZE)
    net_function.compiles[0].breaks = (a_break("Use something else as the key."),)
    (finding,) = (candidate for candidate in findings(run_of(net_function)) if candidate.kind == "graph-break")
    assert (str(finding.where), finding.fix) == ("train.py:9", "")


def test_a_break_below_a_call_is_one_finding_at_the_line_inside() -> None:
    outer, inner = (
        function(0, "net", "net.py", (CALL,), 10, SIZE),
        function(1, "inner", LIBRARY, (CALL, BELOW), 11, SIZE),
    )
    outer.compiles[0].lines = compiled("net", 4)
    outer.compiles[0].breaks = (a_break("Use something else as the key.", CALL),)
    inner.compiles[0].breaks = (a_break("Use something else as the key.", CALL, BELOW),)
    (finding,) = (candidate for candidate in findings(run_of(outer, inner)) if candidate.kind == "graph-break")
    assert (str(finding.where), set(finding.compiles)) == ("net.py:4", {"0/0", "1/0"})


def test_no_tensor_is_marked_in_a_compiled_line() -> None:
    net_function = function(0, "inner", LIBRARY, (CALL, BELOW), 10, SIZE)
    net_function.compiles[0].lines = compiled("net", 4)
    (finding,) = findings(run_of(net_function))
    assert "mark_dynamic" not in finding.fix and "dynamic=True" in finding.fix
    net_function.compiles[0].lines = ()
    (finding,) = findings(run_of(net_function))
    assert "mark_dynamic(ids, 1)" in finding.fix


def test_a_count_that_a_library_keeps_is_no_tensor_of_the_user_s() -> None:
    counted = [f'G["optimizer"].param_groups[0]["k"]: expected {count}, got {count + 1}' for count in (1, 2)]
    optimizer_run = again("", *counted)
    effect = SideEffect('G["optimizer"].param_groups[0]', (UserLine(LIBRARY, 212, "group['k'] = k+1", "step"),))
    (function,) = optimizer_run.functions.values()
    function.compiles[1].effects = (effect,)
    (finding,) = findings(optimizer_run)
    assert finding.fix.startswith('call the library code that changes `optimizer.param_groups[0]["k"]`')
    function.compiles[1].effects = (replace(effect, lines=(replace(effect.lines[0], filename="net.py"),)),)
    (finding,) = findings(optimizer_run)
    assert "library" not in finding.fix and "add_" in finding.fix


def test_a_number_that_the_program_sets_between_calls() -> None:
    optimizer_run = again("", *(f'G["state"].k: expected {count}, got {count + 1}' for count in (1, 2)))
    (function,) = optimizer_run.functions.values()
    (finding,) = findings(optimizer_run)
    assert "add_" in finding.fix, "nobody knows who changes it"
    for recompile in function.compiles[1:]:
        recompile.lines = compiled("net", 4)
    (finding,) = findings(optimizer_run)
    assert "set it in place with `fill_`" in finding.fix
    optimizer_run.unavailable[SIDE_EFFECTS] = "an older torch"
    (finding,) = findings(optimizer_run)
    assert "add_" in finding.fix


def test_a_parameter_of_another_class_is_replaced_before_the_first_call() -> None:
    source = 'type of L["self"]._modules["0"]._parameters["weight"]'
    text = f"{source}: expected torch.nn.parameter.Parameter, got torchao.quantization.Int8Tensor"
    (finding,) = findings(run_of(function(0, "forward", LIBRARY, (CALL,), 10, text)))
    assert finding.fix == "replace `self[0].weight` before the first call"


def test_a_number_that_a_library_needs_is_not_made_a_tensor() -> None:
    text = 'L["data"]._batch_size[0]: expected 8, got 6'
    net_function = function(0, "step", "net.py", (CALL,), 10, text)
    assert findings(run_of(net_function))[0].fix.startswith("make ")
    (entry,) = net_function.compiles[1].trigger.entries
    line = UserLine(LIBRARY, 7, "return shape == batch_size", "check")
    failures = tuple(replace(failure, line=line) for failure in entry.failures)
    net_function.compiles[1].trigger = Recompile((replace(entry, failures=failures),))
    assert findings(run_of(net_function))[0].fix == ""


def test_a_part_of_a_module_is_no_argument() -> None:
    (finding,) = findings(
        run_of(function(0, "forward", LIBRARY, (CALL,), 10, 'L["self"]._modules["0"].p: expected 1, got 2'))
    )
    assert "`ids" not in finding.cause


def test_an_argument_of_print_is_not_the_module() -> None:
    call = UserLine("train.py", 9, "print(epoch, compiled(input_ids=ids).loss)", "main")
    text = 'L["args"][0]._modules["model"].training: expected True, got False'
    (finding,) = findings(run_of(function(0, "forward", LIBRARY, (call,), 10, text)))
    assert "epoch" not in finding.cause


def test_a_function_of_a_library_is_told_at_the_call_of_the_users() -> None:
    run = run_of(function(0, "inner", LIBRARY, (CALL,), 10, SIZE))
    (finding,) = findings(run)
    assert str(finding.where) == "train.py:9"
    assert "the size of `ids`" in finding.cause and "mark_dynamic(ids, 1)" in finding.fix


def test_breaks_inside_of_a_library_are_one_finding_at_the_call_of_the_users() -> None:
    net_function = function(0, "inner", LIBRARY, (CALL,), 10, SIZE)
    for line, reason, entry in ((5, "logging", net_function.compiles[0]), (9, "other", net_function.compiles[1])):
        where = UserLine(LIBRARY, line, "x", "inner")
        entry.breaks.append(GraphBreak(reason, "", (), "", where, (where,), 0, ""))
    graph_breaks = [finding for finding in findings(run_of(net_function)) if finding.kind == "graph-break"]
    assert [(str(finding.where), finding.compiles) for finding in graph_breaks] == [("train.py:9", ("0/0", "0/1"))]
    assert graph_breaks[0].cause.endswith("contextlib.py:5, and 1 more graph break inside of that call")


def test_what_a_library_holds_in_args_is_an_argument() -> None:
    call = UserLine("train.py", 9, "out = step(net, n)", "main")
    net_function = function(0, "inner", LIBRARY, (call,), 10, 'L["args"][1]: expected 5, got 7')
    net_function.parameters = ("args", "kwargs")
    (finding,) = findings(run_of(net_function))
    assert (finding.kind, "(an argument)" in finding.cause) == ("argument-int", True)


def test_a_break_inside_of_a_library_belongs_to_the_break_at_the_line_that_calls_it() -> None:
    net_function = function(0, "f", "f.py", (CALL,), 10, SIZE)
    for entry, where, stack in (
        (net_function.compiles[0], UserLine("f.py", 3, "log.info(x)", "f"), ()),
        (net_function.compiles[1], UserLine(LIBRARY, 9, "log()", "info"), (UserLine("f.py", 3, "log.info(x)", "f"),)),
    ):
        entry.breaks = [GraphBreak("logger", "", (), "", where, stack, 0, "")]
    (break_finding,) = [finding for finding in findings(run_of(net_function)) if finding.kind == "break-logging"]
    assert break_finding.compiles == ("0/0", "0/1") and "contextlib" not in break_finding.cause


def test_a_state_around_a_call_of_a_library_keeps_its_advice() -> None:
    net_function = function(0, "inner", LIBRARY, (CALL,), 10, "autocast: expected None, got {'cpu': 1}")
    (finding,) = findings(run_of(net_function))
    assert (finding.kind, "torch.autocast" in finding.fix) == ("autocast", True)
