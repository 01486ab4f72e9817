"""Guard failures that follow from another one of the same entry."""

from __future__ import annotations

from depyf.findings import findings
from depyf.findings.catalogue.breaks import called_in, kind_of_break
from depyf.findings.catalogue.classify import kind_of_recompile
from depyf.findings.nearest import guard_failures, independent
from depyf.model.guard_failure import Check, GuardFailure
from depyf.model.lines_read import LinesRead
from depyf.model.run import FailedEntry, GraphBreak
from depyf.model.spelling import spelled
from depyf.model.torch_text import guard_failure
from depyf.model.user_line import UserLine
from tests.findings.test_causes import CALL, SIZE, function, run_of


def test_a_named_value_comes_before_one_that_a_break_leaves_on_the_stack() -> None:
    carried = 'size of L["___stack0"]: expected (2, 8), got (2, 12)'
    (finding,) = findings(run_of(function(0, "net", "net.py", (CALL,), 10, carried, SIZE)))
    assert (finding.kind, finding.compiles) == ("tensor-size", ("0/1",))


def test_what_is_computed_from_a_value_of_another_class_is_no_cause() -> None:
    source = 'L["sampling"]["top_k"]'
    changed = GuardFailure(source, Check.CLASS, "int", "NoneType")
    condition = GuardFailure(f"min(64, {source}) >= 0", Check.CONDITION, values=((source, "None"),))
    length = GuardFailure(source, Check.LENGTH, "2", "TypeError: object of type 'NoneType' has no len()")
    other = GuardFailure('L["n"] >= 0', Check.CONDITION, values=(('L["n"]', "-1"),))
    assert list(independent([condition, length, changed, other])) == [changed, other]


def test_a_call_that_gets_a_list_needs_its_items_as_numbers() -> None:
    failure = GuardFailure('L["lengths"][0]', Check.VALUE, "3", "2")
    assert kind_of_recompile(failure, ("x", "lengths"), "def f(x, lengths):\n    return x.split(lengths)").name == (
        "number-in-call"
    )
    assert kind_of_recompile(failure, ("x", "lengths"), "def f(x, lengths):\n    return x * lengths[0]").name == (
        "element-int"
    )


def test_a_transform_is_no_conjugate() -> None:
    plain, batched = "CPU, AutogradCPU", "CPU, FuncTorchDynamicLayerBackMode, AutogradCPU, FuncTorchBatched"
    kind = kind_of_recompile(GuardFailure('L["x"]', Check.DISPATCH_KEYS, plain, batched))
    assert (kind.name, kind.is_expected, kind.fix) == ("function-transform", True, "")
    assert kind_of_recompile(GuardFailure('L["x"]', Check.DISPATCH_KEYS, plain, f"{plain}, Conjugate")).fix


def test_random_numbers_of_numpy_are_no_item_of_the_user_s() -> None:
    where = UserLine("f.py", 2, "level = numpy.random.rand()", "f")
    reason = "Unsupported Tensor.item() call with capture_scalar_outputs=False"
    assert kind_of_break(GraphBreak(reason, "", (), "", where, (), 0, "")).name == "break-numpy-random"
    drawn = "Dynamo does not know how to trace method `integers` of class `Generator`"
    assert kind_of_break(GraphBreak("Unsupported method call", drawn, (), "", where, (), 0, "")).name == (
        "break-numpy-random"
    )
    where = UserLine("f.py", 2, "level = x.max().item()", "f")
    assert kind_of_break(GraphBreak(reason, "", (), "", where, (), 0, "")).name == "break-item"


def test_each_dimension_that_differs_is_marked() -> None:
    both = 'size of L["x"]: expected (2, 8), got (3, 12)'
    (finding,) = findings(run_of(function(0, "net", "net.py", (), 10, both)))
    assert "mark_dynamic(x, [0, 1])" in finding.fix


def test_torch_s_words_for_another_class_are_read() -> None:
    text = "expected type of 'fn._parameters['w']' to be a tensor type, ' but found <class 'ao.Int8Tensor'>"
    failure = guard_failure(text)
    assert (failure.source, failure.check, failure.actual) == ("fn._parameters['w']", Check.TYPE, "ao.Int8Tensor")


def test_an_item_of_a_tuple_is_spelled_as_one() -> None:
    assert spelled('tuple.__getitem__(L["data"]._batch_size, 0)') == "data._batch_size[0]"


def test_the_guard_on_transforms_is_a_state_of_the_call() -> None:
    text = "torch._functorch.pyfunctorch.compare_functorch_state([('Vmap', 1, 'error')])"
    state = GuardFailure("", Check.PRESENCE, "present", "SyntaxError: invalid syntax", text=text)
    keys = GuardFailure('L["x"]', Check.DISPATCH_KEYS, "CPU, FuncTorchBatched", "CPU")
    (cause,) = independent(guard_failures(FailedEntry("0/0", (), (state, keys), True)))
    assert kind_of_recompile(cause).name == "function-transform"


def test_torch_before_2_7_names_the_function_of_an_extension_in_its_reason() -> None:
    reason = "Graph break due to unsupported builtin zlib.crc32. This function is either a Python builtin or"
    assert called_in(GraphBreak(reason, "", (), "", None, (), 0, "")) == "`zlib.crc32`"


def test_a_size_that_the_program_forbids_to_be_dynamic() -> None:
    fixed, small = function(0, "net", "net.py", (CALL,), 10, SIZE), 'size of L["x"]: expected (1, 8), got (2, 8)'
    assert "dynamic=False" not in findings(run_of(fixed))[0].fix
    fixed.compiles[1].is_static = True
    assert findings(run_of(fixed))[0].fix.startswith("remove `dynamic=False`")
    only_small = function(0, "net", "net.py", (CALL,), 10, small)
    only_small.compiles[1].is_static = True
    assert "dynamic=False" not in "".join(finding.fix for finding in findings(run_of(only_small)))


def test_a_container_that_is_filled_between_calls_is_not_changed_by_the_function() -> None:
    texts = (f'number of keys of G["settings"]: expected {count}, got {count + 1}' for count in (2, 3))
    net = function(0, "net", "net.py", (CALL,), 10, *texts)
    for compiled in net.compiles[1:]:
        compiled.lines = (LinesRead("net", "net.py", 1, (2,), (2,), (2,)),)
    (finding,) = findings(run_of(net))
    assert finding.fix.startswith("give `settings` all its items before the first call, keep what is added between")
