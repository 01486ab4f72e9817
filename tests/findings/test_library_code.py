"""What a report says where the user does not own the value or the line."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from depyf.findings import findings
from depyf.model.lines_read import LinesRead
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
    made = function(0, "net", "net.py", (CALL,), 10, SIZE)
    made.compiles[0].lines = compiled("net", 4)
    made.compiles[0].breaks = (a_break("Use something else as the key.", BELOW),)
    (found,) = (each for each in findings(run_of(made)) if each.kind == "graph-break")
    assert str(found.where) == "net.py:4"
    assert found.fix.endswith("call it outside of the compiled function, before or after it")


def test_a_switch_that_torch_names_helps_in_a_library_too() -> None:
    made = function(0, "inner", LIBRARY, (CALL,), 10, SIZE)
    made.compiles[0].breaks = (a_break("Set `torch._dynamo.config.capture_scalar_outputs = True` or more."),)
    (found,) = (each for each in findings(run_of(made)) if each.kind == "graph-break")
    assert found.fix == "set `torch._dynamo.config.capture_scalar_outputs = True` before the first call"


def test_the_call_of_a_compiled_function_cannot_move_out_of_it() -> None:
    made = function(0, "inner", LIBRARY, (CALL,), 10, SIZE)
    made.compiles[0].breaks = (a_break("Use something else as the key."),)
    (found,) = (each for each in findings(run_of(made)) if each.kind == "graph-break")
    assert (str(found.where), found.fix) == ("train.py:9", "")


def test_a_break_below_a_call_is_one_finding_at_the_line_inside() -> None:
    outer, inner = (
        function(0, "net", "net.py", (CALL,), 10, SIZE),
        function(1, "inner", LIBRARY, (CALL, BELOW), 11, SIZE),
    )
    outer.compiles[0].lines = compiled("net", 4)
    outer.compiles[0].breaks = (a_break("Use something else as the key.", CALL),)
    inner.compiles[0].breaks = (a_break("Use something else as the key.", CALL, BELOW),)
    (found,) = (each for each in findings(run_of(outer, inner)) if each.kind == "graph-break")
    assert (str(found.where), set(found.compiles)) == ("net.py:4", {"0/0", "1/0"})


def test_no_tensor_is_marked_in_a_compiled_line() -> None:
    made = function(0, "inner", LIBRARY, (CALL, BELOW), 10, SIZE)
    made.compiles[0].lines = compiled("net", 4)
    (found,) = findings(run_of(made))
    assert "mark_dynamic" not in found.fix and "dynamic=True" in found.fix
    made.compiles[0].lines = ()
    (found,) = findings(run_of(made))
    assert "mark_dynamic(ids, 1)" in found.fix


def test_a_count_that_a_library_keeps_is_no_tensor_of_the_user_s() -> None:
    counted = [f'G["optimizer"].param_groups[0]["k"]: expected {count}, got {count + 1}' for count in (1, 2)]
    made = again("", *counted)
    effect = SideEffect('G["optimizer"].param_groups[0]', (UserLine(LIBRARY, 212, "group['k'] = k+1", "step"),))
    (function,) = made.functions.values()
    function.compiles[1].effects = (effect,)
    (found,) = findings(made)
    assert found.fix.startswith('call the library code that changes `optimizer.param_groups[0]["k"]`')
    function.compiles[1].effects = (replace(effect, lines=(replace(effect.lines[0], filename="net.py"),)),)
    (found,) = findings(made)
    assert "library" not in found.fix and "add_" in found.fix


def test_a_parameter_of_another_class_is_replaced_before_the_first_call() -> None:
    source = 'type of L["self"]._modules["0"]._parameters["weight"]'
    text = f"{source}: expected torch.nn.parameter.Parameter, got torchao.quantization.Int8Tensor"
    (found,) = findings(run_of(function(0, "forward", LIBRARY, (CALL,), 10, text)))
    assert found.fix == "replace `self[0].weight` before the first call"


def test_a_number_that_a_library_needs_is_not_made_a_tensor() -> None:
    text = 'L["data"]._batch_size[0]: expected 8, got 6'
    made = function(0, "step", "net.py", (CALL,), 10, text)
    assert findings(run_of(made))[0].fix.startswith("make ")
    (entry,) = made.compiles[1].trigger.entries
    line = UserLine(LIBRARY, 7, "return shape == batch_size", "check")
    failures = tuple(replace(each, line=line) for each in entry.failures)
    made.compiles[1].trigger = Recompile((replace(entry, failures=failures),))
    assert findings(run_of(made))[0].fix == ""


def test_a_part_of_a_module_is_no_argument() -> None:
    (found,) = findings(
        run_of(function(0, "forward", LIBRARY, (CALL,), 10, 'L["self"]._modules["0"].p: expected 1, got 2'))
    )
    assert "`ids" not in found.cause
