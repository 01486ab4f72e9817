"""One cause is one finding, in however many functions it shows; two causes are two, in however few recompiles."""

from __future__ import annotations

import contextlib

from depyf.findings import findings
from depyf.findings.catalogue.breaks import advised, kind_of_break
from depyf.findings.nearest import nearest
from depyf.findings.reasons import reason_words
from depyf.model.failure import Failure
from depyf.model.lines_read import LinesRead
from depyf.model.run import (
    Compile,
    CompileId,
    Function,
    GraphBreak,
    Guard,
    GuardSet,
    Recompile,
    Session,
    ShapeFact,
    SideEffect,
)
from depyf.model.user_line import UserLine
from tests.sentences import failed


def run_of(*functions: Function) -> Session:
    return Session("2.13.0", "3.11.7", functions={item.key: item for item in functions})


def function(
    frame: int, name: str, filename: str, stack: tuple[UserLine, ...], order: int, *explained: str
) -> Function:
    """Return a function that was compiled, and again in the next call, where its first entry refused."""
    first = Compile(CompileId(frame, 0), name, filename, 1, user_stack=stack, order=frame)
    again = Compile(CompileId(frame, 1), name, filename, 1, user_stack=stack, order=order)
    again.trigger = Recompile((failed(f"{frame}/0", explained[:1], explained),))
    net_function = Function(str(frame), name, filename, 1, "", str(frame), compiles=[first, again])
    net_function.parameters = ("self", "x", "mode")
    return net_function


CALL = UserLine("train.py", 9, "out = net(ids)", "main")
INNER = UserLine("net.py", 4, "return inner(x)", "net")
SIZE = 'size of L["x"]: expected (2, 8), got (2, 12)'


def test_keywords_that_vary_are_told_as_keywords() -> None:
    given = "def f(x, **kw): ..."
    missing = function(0, "f", "f.py", (CALL,), 10, 'L["kw"]["a"]: expected to be there, got KeyError')
    more = function(1, "f", "f.py", (CALL,), 10, 'L["kw"]: expected 1 items, got 2')
    missing.source = more.source = given
    (first,), (other,) = findings(run_of(missing)), findings(run_of(more))
    assert (first.kind, other.kind) == ("keyword-arguments", "keyword-arguments")
    assert 'the keyword argument `kw["a"]` was passed in some calls only' in first.cause
    assert "the number of keyword arguments in `kw` changed" in other.cause


def test_a_size_that_varies_is_one_finding_at_the_outermost_call() -> None:
    inside = 'size of L["x"]: expected (2, 8, 4), got (2, 12, 4)'
    run = run_of(
        function(0, "net", "net.py", (CALL,), 10, SIZE),
        function(1, "inner", "net.py", (CALL, INNER), 11, inside),
    )
    (finding,) = findings(run)
    assert (finding.kind, finding.compiles, finding.cost.compiles) == ("tensor-size", ("0/1", "1/1"), 2)
    assert "`net` was compiled again" in finding.cause and "and with it `inner`" in finding.cause


def test_another_size_inside_and_a_call_from_elsewhere_are_findings_of_their_own() -> None:
    other = 'size of L["x"]: expected (3, 5), got (3, 6)'
    elsewhere = UserLine("other.py", 2, "inner(x)", "f")
    for stack, text in (((CALL, INNER), other), ((elsewhere,), SIZE)):
        run = run_of(function(0, "net", "net.py", (CALL,), 10, SIZE), function(1, "inner", "net.py", stack, 11, text))
        assert len(findings(run)) == 2


def test_what_came_before_is_no_consequence() -> None:
    run = run_of(
        function(0, "net", "net.py", (CALL,), 12, SIZE), function(1, "inner", "net.py", (CALL, INNER), 11, SIZE)
    )
    assert len(findings(run)) == 2


def test_what_no_call_of_the_users_hands_over_is_not_marked() -> None:
    library = contextlib.__file__
    between = UserLine(library, 3, "self.forward(x)", "generate")
    (finding,) = findings(run_of(function(0, "inner", library, (CALL, between), 10, SIZE)))
    assert str(finding.where) == "train.py:9"
    assert "mark_dynamic" not in finding.fix and "dynamic=True" in finding.fix


def test_two_things_that_change_at_once_are_both_told() -> None:
    run = run_of(function(0, "net", "net.py", (CALL,), 10, SIZE, "L[\"mode\"]: expected 'a', got 'b'"))
    (finding,) = findings(run)
    assert (finding.kind, [difference.kind for difference in finding.also]) == ("tensor-size", ["argument-string"])
    assert finding.cause.endswith("; in the same calls also the string `mode` (an argument) was 'b', not 'a'")


def test_a_value_with_a_semicolon_is_not_cut() -> None:
    mode = "L[\"mode\"]: expected 'a; b', got 'c; d'"
    (finding,) = findings(run_of(function(0, "net", "net.py", (CALL,), 10, SIZE, mode)))
    assert finding.cause.endswith("; in the same calls also the string `mode` (an argument) was 'c; d', not 'a; b'")
    scale = 'L["x"]["a; b"]: expected 1.5, got 2.5'
    expected = function(0, "net", "net.py", (CALL,), 10, scale)
    (finding,) = findings(run_of(expected))
    assert '`x["a; b"]` (an item of a container) was 2.5, not 1.5' in finding.cause


def test_a_resume_function_is_named_by_the_users_function() -> None:
    net_function = function(0, "torch_dynamo_resume_in_forward_at_4", "net.py", (CALL,), 10, SIZE)
    net_function.resumes_at, net_function.qualname = 5, "Net.forward"
    (finding,) = findings(run_of(net_function))
    assert "`Net.forward from line 5 on`" in finding.cause


def test_an_attribute_of_an_argument_of_the_users_call_is_written_as_there() -> None:
    library = contextlib.__file__
    call = UserLine("train.py", 9, "out = step(net, x, 3)", "main")
    net_function = function(0, "inner", library, (call,), 10, 'L["args"][0].options["lr"]: expected 5, got 7')
    net_function.parameters = ("args", "kwargs")
    (finding,) = findings(run_of(net_function))
    assert '`net.options["lr"]` (an argument) was 7, not 5' in finding.cause


def test_a_number_that_the_function_raises_is_a_counter_where_others_raise_it_too() -> None:
    net_function = function(0, "f", "f.py", (CALL,), 10, 'L["net"].calls: expected 2, got 3')
    net_function.compiles[0].effects = [SideEffect("L['net']", ())]
    later = Compile(CompileId(0, 2), "f", "f.py", 1, user_stack=(CALL,), order=11)
    text = 'L["net"].calls: expected 3, got 54'
    later.trigger = Recompile((failed("0/1", (text,), (text,)),))
    net_function.compiles.append(later)
    (finding,) = findings(run_of(net_function))
    assert finding.kind == "counter" and "it grows from one recompile to the next" in finding.cause
    net_function.compiles[0].effects = []
    (finding,) = findings(run_of(net_function))
    assert finding.kind == "object-int"


def test_a_function_that_torch_wraps_is_named_by_what_it_calls() -> None:
    net_function = function(0, "inner", "/x/torch/_dynamo/external_utils.py", (CALL,), 10, SIZE)
    net_function.compiles[0].lines = (LinesRead("Diffusion.p_sample", "train.py", 3, (4,), (4,), (4,)),)
    (finding,) = findings(run_of(net_function))
    assert "`Diffusion.p_sample` was compiled again" in finding.cause


def test_a_break_at_a_call_names_the_function_that_is_called() -> None:
    explanation = (
        "Dynamo developers have intentionally marked that the function `Optimizer.zero_grad` should not be traced."
    )
    net_function = Function("0", "f", "f.py", 1, "", "0", compiles=[Compile(CompileId(0, 0), "f", "f.py", 1)])
    where = UserLine("f.py", 3, "opt.zero_grad()", "f")
    reason = "Attempted to call function marked as skipped"
    net_function.compiles[0].breaks = [GraphBreak(reason, explanation, (), "", where, (), 0, "")]
    (finding,) = findings(run_of(net_function))
    assert finding.cause == "Graph break: `Optimizer.zero_grad` is called, which Dynamo does not trace"


def test_of_the_rest_of_a_function_the_conditions_are_those_of_the_whole() -> None:
    net_function = function(0, "f", "f.py", (CALL,), 10, 'L["self"].n: expected 5, got 7')
    net_function.source = "def f(self, x):\n    print(x)\n    if self.n % 10 == 0:\n        x = x + 1\n    return x\n"
    rest = function(1, "torch_dynamo_resume_in_f_at_2", "f.py", (CALL,), 10, 'L["self"].n: expected 5, got 7')
    rest.source, rest.root, rest.resumes_at = "    print(x)\n", "0", 2
    run = run_of(net_function, rest)
    net_function.compiles = net_function.compiles[:1]
    (finding,) = findings(run)
    assert finding.kind == "number-in-condition"


def test_a_break_of_no_kind_is_told_with_torchs_explanation_where_it_names_something() -> None:
    named = "Dynamo does not know how to trace method `random` of class `Generator`"
    explanations = ((named, f"Graph break: unsupported: {named}"), ("Not supported.", "Graph break: unsupported"))
    for explanation, said in explanations:
        net_function = function(0, "f", "f.py", (CALL,), 10, SIZE)
        where = UserLine("f.py", 12, "x = rng.random()", "f")
        net_function.compiles[0].breaks.append(GraphBreak("unsupported", explanation, (), "", where, (where,), 0, ""))
        (break_finding,) = [finding for finding in findings(run_of(net_function)) if finding.kind == "graph-break"]
        assert break_finding.cause == said


def test_a_change_that_a_function_and_its_rest_both_see_is_one_finding_in_any_order() -> None:
    text = 'L["self"].beta: expected 0.25, got 0.5'
    rest = function(1, "torch_dynamo_resume_in_net_at_4", "net.py", (CALL,), 10, text)
    rest.resumes_at, rest.qualname, rest.root = 5, "net", "0"
    (finding,) = findings(run_of(function(0, "net", "net.py", (CALL,), 12, text), rest))
    assert (finding.compiles, finding.cost.compiles) == (("0/1", "1/1"), 2)
    assert "and with it `net from line 5 on`" in finding.cause
    other = function(1, "other", "net.py", (UserLine("other.py", 2, "other(x)", "main"),), 10, text)
    assert len(findings(run_of(function(0, "net", "net.py", (CALL,), 12, text), other))) == 2


LINE = "  (:7 self.seen[key] += 1)"


def again(line: str, *explained: str) -> Session:
    """Return a run of one function that was compiled again for each text, in turn."""
    net_function = function(0, "net", "net.py", (CALL,), 10, explained[0] + line)
    for number, text in enumerate(explained[1:], 2):
        more = Compile(CompileId(0, number), "net", "net.py", 1, user_stack=(CALL,), order=10 + number)
        more.trigger = Recompile((failed(f"0/{number - 1}", (text + line,), (text + line,)),))
        net_function.compiles.append(more)
    return run_of(net_function)


def test_what_one_line_looks_at_in_one_container_is_one_finding() -> None:
    items = [f'L["self"].seen[{key}]: expected {was}, got {now}' for key, was, now in ((4, 1, 5), (6, 2, 9), (4, 5, 3))]
    (finding,) = findings(again(LINE, *items))
    assert (
        "`self.seen[4]` (an item of a container) was 3, not 5" in finding.cause and "and with it" not in finding.cause
    )
    assert sorted(finding.compiles) == ["0/1", "0/2", "0/3"]
    conditions = [f'(1 + L["x"].size()[1] // 2) == {size}: expected true, got false' for size in (4, 6, 9)]
    assert len(findings(again(LINE, *conditions))) == 1


def test_items_of_other_lines_and_of_other_containers_are_findings_of_their_own() -> None:
    items = 'L["cfg"]["a"]: expected 1, got 5', 'L["cfg"]["b"]: expected 2, got 9'
    assert len(findings(again("", *items))) == 2
    assert len(findings(again(LINE, items[0], 'L["other"]["b"]: expected 2, got 9'))) == 2


def test_a_value_carried_over_a_break_hides_no_other_cause() -> None:
    carried = 'L["___stack0"]: expected 1.5, got 2.5'
    run = run_of(function(0, "f", "f.py", (CALL,), 10, carried, 'L["tree"].children: expected length 0, got 2'))
    (finding,) = findings(run)
    assert (finding.kind, "`tree.children`" in finding.cause) == ("object-length", True)
    (compiled,) = run.functions["0"].compiles[1:]
    said = reason_words(run.functions["0"], run.functions["0"], compiled)
    assert said == "the number carried over the graph break was 2.5, not 1.5"


def test_a_state_that_a_function_its_rest_and_what_it_calls_all_see_is_one_finding() -> None:
    text = "grad_mode: expected True, got False"
    rest = function(1, "torch_dynamo_resume_in_net_at_4", "net.py", (CALL, INNER), 12, text)
    rest.resumes_at, rest.qualname, rest.root = 5, "net", "0"
    run = run_of(
        function(0, "net", "net.py", (CALL,), 10, text), rest, function(2, "inner", "a.py", (CALL, INNER), 11, text)
    )
    (finding,) = findings(run)
    assert (finding.kind, finding.compiles) == ("grad-mode", ("0/1", "2/1", "1/1"))


def test_a_number_that_is_compiled_for_each_of_its_values_is_one_finding_at_the_line_that_needs_it() -> None:
    compared = 'L["x"] == 8: expected true, got {"L[\'x\']": 7}  (:5 b[x])'
    (finding,) = findings(again("", 'L["x"]: expected 9, got 8  (:3 full(x))', compared))
    assert (finding.kind, finding.compiles, finding.where.line) == ("specialized-number", ("0/1", "0/2"), 5)


def test_a_tensor_that_is_none_in_some_calls_is_one_finding() -> None:
    texts = 'L["x"]: expected None, got Tensor of torch.float32', 'type of L["x"]: expected torch.Tensor, got NoneType'
    (finding,) = findings(again("", *texts))
    assert (finding.kind, finding.cost.compiles) == ("argument-none", 2)
    assert "`x` (an argument) was None, not torch.Tensor" in finding.cause and "returns the same" in finding.fix


def test_what_the_function_sets_in_its_first_call_is_to_be_set_before() -> None:
    net_function = function(0, "f", "f.py", (CALL,), 10, "L[\"self\"].config.kind: expected None, got 'single'")
    net_function.compiles[0].effects = [SideEffect("L['self'].config", ())]
    (finding,) = findings(run_of(net_function))
    assert (
        finding.kind == "set-in-call" and "a call set `self.config.kind`, which was None, to 'single'" in finding.cause
    )
    net_function.compiles[0].effects = []
    assert findings(run_of(net_function))[0].kind == "object-none"


def test_what_is_passed_as_a_keyword_is_an_argument() -> None:
    net_function = function(0, "f", "f.py", (CALL,), 10, 'L["kw"]["scale"]: expected 1.0, got 0.5')
    net_function.source = "def f(x, **kw): ..."
    (finding,) = findings(run_of(net_function))
    assert finding.kind == "argument-float"


def test_a_key_that_torch_alone_tells_of_is_read() -> None:
    for text in ("___dict_contains('w', L['x'])", "not ___dict_contains('w', L['x'])"):
        net_function = function(0, "f", "f.py", (CALL,), 10)
        net_function.compiles[1].trigger = Recompile((failed("0/0", (f"{text}  (:3 if 'w' in x:)",)),))
        (finding,) = findings(run_of(net_function))
        assert (finding.kind, finding.where.line) == ("dict-keys", 3)
        assert "`x` had the key 'w' in some calls only" in finding.cause


def test_a_step_of_an_optimizer_alone_costs_nothing() -> None:
    explanation = "marked that the function `Adam.step` in file `/x/torch/optim/lr_scheduler.py` should not be traced."
    net_function = Function("0", "f", "f.py", 1, "", "0", compiles=[Compile(CompileId(0, 0), "f", "f.py", 1)])
    reason, where = "Attempted to call function marked as skipped", UserLine("f.py", 3, "opt.step()", "f")
    net_function.compiles[0].breaks = [GraphBreak(reason, explanation, (), "", where, (), 0, "")]
    for operations, severity in ((0, "low"), (7, "medium")):
        net_function.compiles[0].op_count = operations
        (finding,) = findings(run_of(net_function))
        assert (finding.kind, finding.severity, bool(finding.fix)) == ("break-optimizer", severity, bool(operations))


def test_what_a_backend_failed_with_is_told_at_the_line_of_the_node() -> None:
    explanations = (
        "Backend compiler `inductor` failed with aten.f.default While executing %g : [num_users=1] = "
        "call_function[target=operator.getitem](args = (%a,), kwargs = {}) Original traceback: ..."
    )
    failure = Failure("Unsupported", "Backend compiler exception", UserLine("f.py", 3, "a[t]", "f"), raised=False)
    net_function = Function(
        "0", "f", "f.py", 1, "", "0", compiles=[Compile(CompileId(0, 0), "f", "f.py", 1, failure=failure)]
    )
    net_function.compiles[0].breaks = [
        GraphBreak("Backend compiler exception", explanations, ("Report an issue.",), "", failure.where, (), 0, "")
    ]
    (finding,) = findings(run_of(net_function))
    assert (finding.kind, finding.severity, finding.where.line, finding.fix) == ("break-backend", "high", 3, "")
    assert "the backend failed with aten.f.default at `operator.getitem`, and all of `f` runs eager" in finding.cause


def test_of_torchs_hints_the_first_that_says_what_to_change_is_advised() -> None:
    hints = "If it is a builtin, please file an issue on GitHub.", "Use `torch.cond`."
    assert (advised(hints), advised(hints[:1])) == ("Use `torch.cond`.", "")


def test_a_function_without_anything_to_compile_is_no_finding() -> None:
    run = run_of()
    for reason, count in (("No ops traced for the FX graph.", 0), ("a context manager", 1)):
        run.skipped = {("f", "f.py", reason): 3}
        assert len(findings(run)) == count


def test_items_of_one_container_that_change_alike_in_one_line_are_one_finding() -> None:
    first, other = (f'L["t"].parts[{index}].parts: expected length 0, got 2  (:7 for p in parts:)' for index in (0, 1))
    (item_finding,) = findings(run_of(function(0, "f", "f.py", (CALL,), 10, first, other)))
    assert "`t.parts[0].parts`" in item_finding.cause
    deeper = 'L["t"].parts[0].parts[0].parts: expected length 0, got 2'
    assert len(findings(again("  (:7 for p in parts:)", first.partition("  (")[0], deeper))) == 1
    longer = other.replace("got 2", "got 3").replace("].parts:", "].others:")
    (finding,) = findings(run_of(function(0, "f", "f.py", (CALL,), 10, first, longer)))
    assert [difference.kind for difference in finding.also] == [finding.kind]


def test_a_size_of_which_torch_needs_the_number_is_not_to_be_marked_as_dynamic() -> None:
    for detail, kind in (("12", "tensor-size-specialized"), ("7", "tensor-size")):
        net_function = function(0, "f", "f.py", (CALL,), 10, SIZE)
        net_function.compiles[1].shapes = [ShapeFact("symbolic_shape_specialization", "s1", detail, None)]
        (finding,) = findings(run_of(net_function))
        assert (finding.kind, "mark_dynamic" in finding.fix) == (kind, kind == "tensor-size")


def test_a_number_that_another_line_slices_with_is_needed_as_a_number() -> None:
    (finding,) = findings(again("  (a.py:9 mask[i, n:] = True)", 'L["sizes"][3]: expected 8, got 5'))
    assert finding.kind == "number-in-call"


def test_a_dtype_that_several_tensors_change_is_one_finding() -> None:
    texts = [f'dtype of L["{name}"]: expected torch.float32, got torch.float64' for name in ("x", "w")]
    (finding,) = findings(run_of(function(0, "f", "f.py", (CALL,), 10, *texts)))
    assert "the dtype of `x`" in finding.cause


def test_what_a_method_below_one_of_torchs_functions_needs_is_told_at_its_line() -> None:
    net_function = function(
        0, "inner", contextlib.__file__, (CALL,), 10, 'L["args"][0].n: expected 4, got 5  (ema.py:14 n)'
    )
    net_function.parameters = ("args", "kwargs")
    guard = Guard("TYPE_MATCH", 'L["args"][0]', "", 'type(L["args"][0]) is EMA')
    for compiled in net_function.compiles:
        compiled.guards = GuardSet((guard,), ())
        compiled.lines = (LinesRead("EMA.update", "ema.py", 12, (14,), (), (14,)),)
    run = run_of(net_function)
    run.sources["ema.py"] = ""
    (finding,) = findings(run)
    assert (str(finding.where), finding.fix.partition(" a tensor")[0]) == ("ema.py:14", "make `self.n`")


def test_of_entries_that_say_one_thing_each_the_one_that_looked_at_a_value_is_nearest() -> None:
    state = failed("0/1", ("GLOBAL_STATE changed: grad_mode ",))
    closest = nearest(Recompile((failed("0/0", ('L["n"] == 3',)), state)))
    assert (closest.entry, closest.reasons[0].subject) == ("0/0", "n")


def test_what_the_users_call_passes_is_named_as_there_and_told_at_the_line_that_needs_it() -> None:
    call = UserLine("train.py", 9, "step(net)", "main")
    net_function = function(
        0, "inner", contextlib.__file__, (call,), 10, 'L["args"][0].n: expected 4, got 5  (ema.py:14 m.n)'
    )
    net_function.compiles[1].lines = (LinesRead("step", "ema.py", 12, (14,), (), (14,)),)
    run = run_of(net_function)
    run.sources["ema.py"] = ""
    (finding,) = findings(run)
    assert (str(finding.where), "`net.n`" in finding.cause) == ("ema.py:14", True)


def test_a_number_that_grows_and_decides_a_branch_is_not_to_be_made_a_tensor() -> None:
    text = 'L["self"].n: expected 5, got 6  (:12 self.n += 1)'
    inlined = LinesRead("count", "f.py", 11, (12, 13), (), (12, 13), ("self.n",))
    elsewhere = LinesRead("count", "f.py", 11, (12, 13), (), (12, 13), ("self.m",))
    for read, kind in ((inlined, "counter-in-condition"), (elsewhere, "counter")):
        net_function = function(0, "f", "f.py", (CALL,), 10, text)
        later = Compile(CompileId(0, 2), "f", "f.py", 1, user_stack=(CALL,), order=11)
        later.trigger = Recompile((failed("0/1", (text,), (text.replace("5, got 6", "6, got 7"),)),))
        net_function.compiles.append(later)
        for compiled in net_function.compiles:
            compiled.lines = (read,)
        (finding,) = findings(run_of(net_function))
        assert (finding.kind, "a tensor" in finding.fix) == (kind, kind == "counter")


def test_the_value_that_is_new_each_time_reached_the_limit_not_the_one_that_changes_to_and_fro() -> None:
    size = 'size of L["x"]: expected (32, 16), got (6, 16)'
    net_function = function(0, "f", "f.py", (CALL,), 10, size)
    for number in range(2, 8):
        again = Compile(CompileId(0, number), "f", "f.py", 1, user_stack=(CALL,), order=10 + number)
        text = size if number % 2 else f"L[\"mode\"]: expected 'm{number - 2}', got 'm{number}'"
        again.trigger = Recompile((failed(f"0/{number - 1}", (text,), (text,)),))
        net_function.compiles.append(again)
    past = Compile(CompileId(0, 8), "f", "f.py", 1, user_stack=(CALL,), order=30)
    past.failure = Failure("FailOnRecompileLimitHit", "recompile_limit reached", None)
    net_function.compiles.append(past)
    limit_finding, other = findings(run_of(net_function))
    assert (limit_finding.kind, "`mode`" in limit_finding.cause) == ("recompile-limit", True)
    assert (other.kind, other.cost.compiles) == ("tensor-size", 4)


def test_the_condition_of_a_branch_and_the_number_in_it_are_one_finding() -> None:
    net_function = function(0, "f", "f.py", (CALL,), 10, 'L["self"].n: expected 0.9, got 0.8')
    net_function.source = "def f(self, x):\n    if self.n > 0.5:\n        x = x + 1\n    return x * self.n\n"
    for number, subject in ((2, "self"), (3, "other")):
        text = f'L["{subject}"].n > 0.5: expected true, got {{\'L["{subject}"].n\': 0.4}}'
        again = Compile(CompileId(0, number), "f", "f.py", 1, user_stack=(CALL,), order=10 + number)
        again.trigger = Recompile((failed("0/1", (text,), (text,)),))
        net_function.compiles.append(again)
    limit_finding, other = findings(run_of(net_function))
    assert (limit_finding.kind, limit_finding.compiles) == ("number-in-condition", ("0/1", "0/2"))
    assert (other.kind, other.compiles) == ("symbolic-shape", ("0/3",))


def test_a_power_is_no_keyword_parameter() -> None:
    net_function = function(0, "<lambda>", "f.py", (CALL,), 10, 'L["power"]: expected 2, got 1')
    net_function.parameters, net_function.source = ("a", "b"), "    return lambda a, b: ((a - b) ** power).mean()\n"
    (finding,) = findings(run_of(net_function))
    assert "the number `power`" in finding.cause and "keyword" not in finding.cause


def test_a_number_from_a_tensor_that_decides_a_branch_is_a_branch_on_data() -> None:
    kinds = {}
    for line in ("if x.norm().item() > 3:", "elif numpy.random.rand() < 0.1:", "n = x.item() if x.ndim else 1"):
        where = UserLine("f.py", 3, line, "f")
        kinds[line] = kind_of_break(GraphBreak("Unsupported Tensor.item() call", "", (), "", where, (), 0, "")).name
    assert list(kinds.values()) == [*["break-data-dependent-branch"] * 2, "break-item"]


def test_a_container_that_the_function_or_an_object_keeps_grows_also_in_unequal_steps() -> None:
    keys = ('L["m"].seen: expected 0 items, got 1', 'L["m"].seen: expected 1 items, got 3')
    kept = ('L["m"].seen: expected length 0, got 2', 'L["m"].seen: expected length 2, got 3')
    given = ('L["x"]: expected length 0, got 2', 'L["x"]: expected length 2, got 3')
    fewer = ('L["m"].seen: expected length 3, got 4', 'L["m"].seen: expected length 4, got 2')
    for texts, source, kind in (
        (keys, "L['m'].seen", "growing-container"),
        (keys, "L['m'].other", "dict-keys"),
        (kept, "L['y']", "growing-container"),
        (given, "L['y']", "argument-length"),
        (given, "L['x']", "growing-container"),
        (fewer, "L['y']", "object-length"),
    ):
        net_function = function(0, "f", "f.py", (CALL,), 10, texts[0])
        later = Compile(CompileId(0, 2), "f", "f.py", 1, user_stack=(CALL,), order=11)
        later.trigger = Recompile((failed("0/1", texts[1:], texts[1:]),))
        net_function.compiles.append(later)
        net_function.compiles[0].effects = [SideEffect(source, ())]
        (finding,) = findings(run_of(net_function))
        assert finding.kind == kind, (texts, source)
