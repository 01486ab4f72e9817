"""An event that every program of its kind has once is low, and what a program can avoid is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from depyf.findings import findings
from depyf.findings.expected import expectation
from depyf.findings.nearest import independent
from depyf.model.finding import Finding
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.run import Compile, CompileId, FailedEntry, Failure, Function, Guard, GuardSet, Recompile, SideEffect
from depyf.model.user_line import UserLine
from tests.findings.test_causes import CALL, function, run_of
from tests.sentences import failed, failure

PARAMETER = 'L["self"].__dict__["_modules"]["head"].__dict__["_parameters"]["{}"]'


def again(net_function: Function, *texts: str, nearest: int | None = None, **entries: tuple[str, ...]) -> Compile:
    """Add a compile whose nearest entry is the last one, or another, and return it.

    entries: further entries, such as `e0`, and why they did not serve the call.
    """
    number = len(net_function.compiles)
    compiled = Compile(CompileId(0, number), "f", "f.py", 1, user_stack=(CALL,), order=10 + number)
    texts_of = {f"0/{name[1:]}": clauses for name, clauses in entries.items()}
    texts_of[f"0/{number - 1 if nearest is None else nearest}"] = texts
    compiled.trigger = Recompile(tuple(failed(entry, clauses, clauses) for entry, clauses in sorted(texts_of.items())))
    net_function.compiles.append(compiled)
    return compiled


def with_type(net_function: Function, name: str) -> Function:
    """Return a function in whose recompiles each value has a class of this name."""
    for compiled in net_function.compiles[1:]:
        assert isinstance(compiled.trigger, Recompile)
        entries = compiled.trigger.entries
        compiled.trigger = Recompile(
            tuple(
                replace(entry, failures=tuple(replace(guard_failure, type=name) for guard_failure in entry.failures))
                for entry in entries
            )
        )
    return net_function


def only(net_function: Function) -> Finding:
    (finding,) = findings(run_of(net_function))
    return finding


def test_the_input_of_a_module_with_and_without_gradients_needs_one_more_entry():
    net_function = function(0, "f", "f.py", (CALL,), 10, 'requires_grad of L["x"]: expected False, got True')
    assert only(net_function).severity == "medium"
    net_function.compiles[1].guards = GuardSet((Guard("TENSOR_MATCH", PARAMETER.format("weight"), "", ""),), ())
    finding = only(net_function)
    assert (finding.kind, finding.severity) == ("tensor-requires-grad", "low")
    assert finding.cause.endswith("; expected: one more entry serves all such calls")


def test_another_module_of_the_class_is_expected_and_another_argument_is_not():
    size = f"size of {PARAMETER.format('weight')}: expected (4, 8), got (2, 8)"
    module = with_type(function(0, "f", "f.py", (CALL,), 10, size), "torch.nn.parameter.Parameter")
    finding = only(module)
    assert (finding.kind, finding.severity) == ("parameter-size", "low")
    assert finding.cause.endswith("; expected: each module of another size needs an entry of its own")
    argument = function(0, "f", "f.py", (CALL,), 10, 'size of L["x"]: expected (4, 8), got (2, 9)')
    assert only(with_type(argument, "torch.nn.parameter.Parameter")).severity == "medium"


def test_the_input_of_another_module_has_another_size_and_is_not_to_be_padded():
    size = f"size of {PARAMETER.format('weight')}: expected (4, 8), got (8, 3)"
    net_function = function(0, "f", "f.py", (CALL,), 10, 'size of L["x"]: expected (5, 8), got (5, 3)', size)
    finding = only(with_type(net_function, "torch.Tensor"))
    assert (finding.kind, finding.severity, finding.fix) == ("tensor-size", "low", "")
    net_function = function(0, "f", "f.py", (CALL,), 10, "L[\"mode\"]: expected 'a', got 'b'", size)
    assert only(net_function).severity == "medium"


def test_modules_of_many_sizes_are_no_longer_expected():
    texts = [f"size of {PARAMETER.format('weight')}: expected ({n}, 8), got ({n + 1}, 8)" for n in range(4, 7)]
    net_function = function(0, "f", "f.py", (CALL,), 10, texts[0])
    for text in texts[1:]:
        again(net_function, text)
    assert only(with_type(net_function, "torch.nn.parameter.Parameter")).severity == "high"


def test_the_parameters_of_a_module_change_requires_grad_together():
    texts = [f"requires_grad of {PARAMETER.format(name)}: expected False, got True" for name in ("bias", "weight")]
    (cause,) = independent([failure(text) for text in texts])
    assert cause.subject == "self.head.bias"
    arguments = [f'requires_grad of L["{name}"]: expected False, got True' for name in "xy"]
    assert len(list(independent([failure(text) for text in arguments]))) == 2


@pytest.mark.parametrize(
    ("text", "source", "severity"),
    [
        ('L["self"].mask: expected None, got Tensor', 'L["self"]', "low"),
        ('L["state"]: expected 0 items, got 1', 'L["state"]', "low"),
        ('L["state"]: expected 0 items, got 1', 'L["x"]', "medium"),
        ("L[\"state\"]: expected has no key 'momentum', got ['momentum']", 'L["state"]', "low"),
        ('L["state"]: expected 1 items, got 2', 'L["state"]', "medium"),
        ('L["self"].n: expected 2, got 3', 'L["self"]', "medium"),
    ],
)
def test_what_the_first_call_made_is_a_warm_up(text, source, severity):
    net_function = function(0, "f", "f.py", (CALL,), 10, text)
    net_function.compiles[0].effects = [SideEffect(source, ())]
    finding = only(net_function)
    assert finding.severity == severity
    assert ("the first call made it" in finding.cause) == (severity == "low")


@pytest.mark.parametrize(
    ("line", "severity"),
    [("self.ready = True", "low"), ("self.calls = 1", "medium"), ("if self.ready == 1:", "medium")],
)
def test_a_flag_that_the_first_call_sets_is_a_warm_up(line, severity):
    net_function = function(0, "f", "f.py", (CALL,), 10, 'L["self"].ready: expected False, got True')
    net_function.compiles[0].effects = [SideEffect('L["self"]', (UserLine("f.py", 3, line, "f"),))]
    assert only(net_function).severity == severity


def test_another_sequential_has_other_parts_and_a_module_of_ones_own_is_changed():
    text = 'L["self"].__dict__["_modules"]: expected 2 items, got 3'
    own = function(0, "forward", "f.py", (CALL,), 10, text)
    assert only(own).severity == "medium"
    made = function(0, "forward", "site-packages/torch/nn/modules/container.py", (CALL,), 10, text)
    found = only(made)
    assert (found.severity, found.fix) == ("low", "")
    assert found.cause.endswith("; expected: each module with other parts needs an entry of its own")
    for number in (4, 5):
        again(made, text.replace("got 3", f"got {number}"))
    assert only(made).severity == "high" and "recompile_limit" in only(made).fix


def test_two_modules_of_torchs_own_classes_share_one_function():
    texts = ('dtype of L["args"][0]: expected torch.int64, got torch.float32', 'class of L["fn"]: expected A, got B')
    made = function(0, "inner", "site-packages/torch/_dynamo/external_utils.py", (CALL,), 10, *texts)
    found = only(made)
    assert (found.severity, found.fix) == ("low", "")
    assert found.cause.endswith("; expected: each module of another class needs an entry of its own")


def test_an_attribute_that_the_first_call_adds_is_a_warm_up():
    made = function(0, "f", "f.py", (CALL,), 10, "L[\"self\"]: expected no attribute 'table', got it")
    assert only(made).severity == "medium"
    made.compiles[0].effects = [SideEffect('L["self"]', (UserLine("f.py", 3, "self.table = x.exp()", "f"),))]
    assert only(made).severity == "low"


def test_a_difference_with_a_finding_of_its_own_does_not_keep_a_size_from_being_expected():
    made = sizes(7)
    number = made.compiles[1].trigger
    size, mode = number.entries[0].failures[0], failure("L[\"mode\"]: expected 'a', got 'b'")
    made.compiles[1].trigger = Recompile((FailedEntry("0/0", (), (size, mode), True),))
    again(made, "L[\"mode\"]: expected 'b', got 'a'", e0=('size of L["x"]: expected (5, 8), got (7, 8)',))
    found = {each.kind: each for each in findings(run_of(made))}
    assert (found["tensor-size"].severity, found["argument-string"].severity) == ("low", "medium")


def test_an_item_of_a_list_that_the_first_call_sets_is_a_warm_up():
    made = function(0, "f", "f.py", (CALL,), 10, 'L["cache"]["done"][0]: expected False, got True')
    line = UserLine("f.py", 3, 'cache["done"][number] = True', "f")
    made.compiles[0].effects = [SideEffect('L["cache"]["done"]', (line,))]
    assert only(made).severity == "low"


def test_one_token_and_one_request_are_two_events_with_few_entries():
    flag = 'L["x"].is_filled: expected False, got True'
    one_token = '2 <= L["ids"].size()[1]: expected true, got {"ids": 1}'
    one_request = 'size of L["ids"]: expected (1, any), got (2, 5)'
    made = function(0, "f", "f.py", (CALL,), 10, flag)
    made.compiles[0].effects = [SideEffect('L["x"]', (UserLine("f.py", 3, "self.is_filled = True", "f"),))]
    made.compiles.pop()
    again(made, flag, one_token)
    again(made, one_request, nearest=0)
    again(made, 'size of L["ids"]: expected (1, 1), got (2, 1)', nearest=1, e2=(flag, one_token))
    found = findings(run_of(made))
    assert [(each.severity, each.compiles) for each in found] == [("low", ("0/2", "0/3")), ("low", ("0/1",))]
    assert found[0].cause.endswith("; expected: 2 more entries serve all such calls")


def sizes(*actual: int) -> Function:
    """Return a function that is compiled for a size of 5, then for some others; the last entry serves any size."""
    texts = [
        f'size of L["x"]: expected ({before}, 8), got ({size}, 8)'
        for before, size in zip((5, *actual), actual, strict=False)
    ]
    net_function = function(0, "f", "f.py", (CALL,), 10, texts[0])
    for text in texts[1:]:
        again(net_function, text)
    clause = 'tensor(L["x"], torch.Tensor, size=(None, 8), stride=(8, 1))'
    net_function.compiles[-1].guards = GuardSet((Guard("TENSOR_MATCH", 'L["x"]', "", clause),), ())
    return net_function


def test_a_batch_of_one_and_then_any_batch_settle():
    finding = only(sizes(1, 7))
    assert finding.severity == "low"
    assert finding.cause.endswith("; expected: torch compiles 0 and 1 separately, then for any value")


def test_sizes_that_do_not_settle_are_not_expected():
    assert only(sizes(6, 7)).severity == "medium"
    assert only(sizes(6, 7, 8)).severity == "high"


def test_two_sizes_that_become_dynamic_in_one_call_are_expected():
    texts = [f'size of L["{name}"]: expected (5, 8), got (6, {width})' for name, width in (("x", 8), ("mode", 9))]
    net_function = function(0, "f", "f.py", (CALL,), 10, *texts)
    clause = 'tensor(L["{}"], torch.Tensor, size=({}, {}), stride=(8, 1))'
    guards = [Guard("TENSOR_MATCH", 'L["x"]', "", clause.format("x", None, 8))]
    for size, severity in ((9, "medium"), (None, "low")):
        other = Guard("TENSOR_MATCH", 'L["mode"]', "", clause.format("mode", None, size))
        net_function.compiles[1].guards = GuardSet((*guards, other), ())
        assert only(net_function).severity == severity


def test_an_array_of_numpy_is_named_and_gets_the_fix_of_an_array():
    finding = only(function(0, "f", "f.py", (CALL,), 10, 'size of ___from_numpy(L["x"]): expected (5,), got (6,)'))
    assert "the size of `x` was (6,), not (5,)" in finding.cause and "mark_dynamic" not in finding.fix
    finding = only(function(0, "f", "f.py", (CALL,), 10, 'dtype of ___from_numpy(L["x"]): expected a, got b'))
    assert finding.fix == "convert the array to one dtype before the call, with `x.astype(...)`"


def test_an_int_that_becomes_a_float_is_of_another_type():
    finding = only(function(0, "f", "f.py", (CALL,), 10, 'L["x"]: expected 3, got 2.5'))
    assert (finding.kind, finding.severity) == ("argument-type", "medium")


def test_a_flag_is_no_number_that_settles():
    net_function = function(0, "f", "f.py", (CALL,), 10, 'L["x"]: expected True, got False')
    again(net_function, 'L["x"]: expected False, got True')
    assert only(net_function).severity == "medium"


def test_each_value_that_a_line_checks_needs_an_entry():
    """Alternate gradients and a growing rate, as torch tells it: later entries check conditions on the rate."""
    grad, back = "grad_mode: expected True, got False", "grad_mode: expected False, got True"
    net_function = function(0, "f", "f.py", (CALL,), 10, grad)
    net_function.parameters = ("x",)
    rate = 'L["self"].rate: expected 0.1, got 0.2'
    again(net_function, rate, nearest=0, e1=(back, rate))
    again(net_function, grad, e0=(grad, rate), e1=(rate,))
    for number, value in ((4, "0.2"), (6, "0.3")):
        condition = f'L["self"].rate == {value}'
        again(net_function, condition, nearest=number - 2, e0=(rate,), **{f"e{number - 1}": (back, condition)})
        again(net_function, grad, e0=(grad, rate), e1=(rate,))
    past = Compile(CompileId(0, 8), "f", "f.py", 1, user_stack=(CALL,), order=30)
    past.failure = Failure("FailOnRecompileLimitHit", "recompile_limit reached", None)
    net_function.compiles.append(past)
    limit, gradients = findings(run_of(net_function))
    assert limit.kind == "recompile-limit" and "`self.rate`" in limit.cause
    assert limit.cause.endswith("recompiles for each cause alone: `self.rate` 3, gradients on and off 1")
    assert (gradients.kind, gradients.severity) == ("grad-mode", "low")


def test_a_compile_that_failed_is_told_once_with_what_was_new():
    net_function = function(0, "f", "f.py", (CALL,), 10, 'size of L["x"]: expected (3,), got (5,)')
    net_function.compiles[1].failure = Failure(
        "BackendCompilerFailed", "no dynamic sizes", None, "the backend `mine`", True
    )
    finding = only(net_function)
    assert (finding.kind, finding.compiles) == ("failure", ("0/1",))
    assert finding.cause.endswith("; it was compiled again because the size of `x` was (5,), not (3,)")


def test_the_limit_and_the_fix_name_what_else_keeps_entries_apart():
    mode = "L[\"mode\"]: expected 'a', got 'b'"
    net_function = function(0, "f", "f.py", (CALL,), 10, mode, 'L["x"]: expected True, got False')
    for before, name in (("b", "c"), ("c", "d")):
        again(net_function, f"L[\"mode\"]: expected '{before}', got '{name}'")
    past = Compile(CompileId(0, 4), "f", "f.py", 1, user_stack=(CALL,), order=30)
    past.failure = Failure("FailOnRecompileLimitHit", "recompile_limit reached", None)
    net_function.compiles.append(past)
    finding = only(net_function)
    assert finding.kind == "recompile-limit" and "the flag `x` (an argument) was False, not True" in finding.cause
    assert finding.fix.endswith("because `x` remains")


def test_the_place_is_the_users_line_also_if_a_library_compares_the_number():
    net_function = function(0, "f", "f.py", (CALL,), 10, 'L["x"]: expected 1, got 2')
    user_line, torch = UserLine("f.py", 4, "self.layers[x]", "f"), UserLine("/lib/site-packages/torch/c.py", 9, "", "")
    again(net_function, 'L["x"] == 2')
    for compiled, line in zip(net_function.compiles[1:], (user_line, torch), strict=True):
        assert isinstance(compiled.trigger, Recompile)
        (entry,) = compiled.trigger.entries
        (why,) = entry.failures
        compiled.trigger = Recompile((replace(entry, failures=(replace(why, line=line),)),))
    assert only(net_function).where.line == 4


def test_a_dtype_that_changes_on_both_sides_of_a_break_is_one_finding():
    text = 'dtype of L["x"]: expected torch.float32, got torch.bfloat16'
    rest = function(1, "torch_dynamo_resume_in_f_at_4", "f.py", (CALL,), 12, text)
    rest.resumes_at, rest.qualname, rest.root = 5, "f", "0"
    (finding,) = findings(run_of(function(0, "f", "f.py", (CALL,), 10, text), rest))
    assert (finding.kind, finding.compiles) == ("tensor-dtype", ("0/1", "1/1"))


def test_the_expectation_is_empty_for_what_goes_on():
    from depyf.findings.events import events

    net_function = function(0, "f", "f.py", (CALL,), 10, "L[\"mode\"]: expected 'a', got 'b'")
    (event,) = events(run_of(net_function))
    assert expectation(event) == ""


def test_the_first_step_of_an_optimizer_fills_its_state_and_marks_its_group() -> None:
    state, group = 'G["optimizer"].state: expected 0 items, got 2', 'G["optimizer"].group: expected 14 items, got 15'
    net_function = function(0, "f", "f.py", (CALL,), 10, state, group)
    net_function.compiles[0].effects = [SideEffect('G["optimizer"].state', ()), SideEffect('G["optimizer"].group', ())]
    assert only(net_function).severity == "low"
    given = function(0, "f", "f.py", (CALL,), 10, state, 'L["group"]: expected 14 items, got 15')
    given.compiles[0].effects = [SideEffect('G["optimizer"].state', ()), SideEffect('L["group"]', ())]
    assert only(given).severity == "medium"


def test_sizes_that_were_equal_by_chance_need_one_more_entry() -> None:
    condition = "ids.size()[0] == mask.size()[0]"
    text = f"{condition}  # duck sizing added this equality because these variables had the same size 14"
    net_function = function(0, "f", "f.py", (CALL,), 10, "L[\"mode\"]: expected 'a', got 'b'")
    check = replace(failure(text), source=condition, check=Check.CONDITION, expected="", text=text)
    net_function.compiles[1].trigger = Recompile((FailedEntry("0/0", (), (check,), True),))
    finding = only(net_function)
    assert (finding.kind, finding.severity) == ("duck-size", "low")
    assert "use_duck_shape = False" in finding.fix


@pytest.mark.parametrize(("hits", "severity"), [((1, 9), "low"), ((4, 9), "medium"), ((1, 1), "medium")])
def test_a_stride_of_the_first_call_alone_is_a_warm_up(hits: tuple[int, int], severity: str) -> None:
    net_function = function(0, "f", "f.py", (CALL,), 10, 'stride of L["token"]: expected (5, 1), got (1, 1)')
    for compiled, count in zip(net_function.compiles, hits, strict=True):
        compiled.hits = count
    finding = only(net_function)
    assert (finding.kind, finding.severity) == ("tensor-stride", severity)
    assert "contiguous" in finding.fix


def test_where_a_view_begins_follows_from_every_other_difference() -> None:
    offset = GuardFailure('L["x"]', Check.OFFSET, "2 or more", "0")
    state = failure("grad_mode: expected True, got False")
    assert list(independent([offset, state, offset])) == [state]
    net_function = function(0, "f", "f.py", (CALL,), 10, "L[\"mode\"]: expected 'a', got 'b'")
    net_function.compiles[1].trigger = Recompile((FailedEntry("0/0", (), (offset, offset), True),))
    finding = only(net_function)
    assert (finding.kind, finding.severity) == ("storage-offset", "low")


def test_a_stride_that_becomes_dynamic_is_a_warm_up_and_a_dimension_of_one_is_cloned() -> None:
    net_function = function(0, "f", "f.py", (CALL,), 10, 'stride of L["token"]: expected (1, 1), got (3, 1)')
    clause = 'tensor(L["token"], torch.Tensor, torch.int64, "cpu", size=(1, 1), stride={}, requires_grad=False)'
    for stride, severity in (("(None, 1)", "low"), ("(3, 1)", "medium")):
        guard = Guard("TENSOR_MATCH", 'L["token"]', "", clause.format(stride))
        net_function.compiles[1].guards = GuardSet((guard,), ())
        finding = only(net_function)
        assert finding.severity == severity
        assert "memory_format=torch.contiguous_format" in finding.fix


def test_a_module_with_another_part_is_another_module_also_without_gradients() -> None:
    part = failure("class of L[\"fn\"]._modules['1']: expected Lora, got torch.nn.modules.linear.Linear")
    state = failure("grad_mode: expected True, got False")
    size = failure('size of L["args"][0]: expected (4, 8), got (1, 12)')
    net_function = function(0, "inner", "torch/_dynamo/external_utils.py", (CALL,), 10, "x")
    net_function.compiles[1].trigger = Recompile((FailedEntry("0/0", (), (size, state, part), True),))
    (finding,) = findings(run_of(net_function))
    assert finding.severity == "low"


def test_two_arguments_that_are_one_object_in_some_calls_need_one_more_entry() -> None:
    text = 'L["x"] is L["y"]: expected the same object, got [array([0.]), array([0.])]'
    finding = only(function(0, "f", "f.py", (CALL,), 10, text))
    assert (finding.kind, finding.severity, finding.fix) == ("object-identity", "low", "")
    assert finding.cause.endswith("; expected: one more entry serves all such calls")
