"""Where the numbers go wrong: planted NaN and infinity, forward and backward, and planted wrong results."""

from __future__ import annotations

import copy
import random
from collections import OrderedDict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.torch.adapters import seams  # noqa: E402
from depyf.torch.numerics.python_state import PythonState  # noqa: E402
from depyf.torch.numerics.report import Kind, NumericsReport, Part  # noqa: E402
from depyf.torch.numerics.whole_call import Outcome, compared  # noqa: E402

Tensor = torch.Tensor


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)


def trace(function: Callable[..., Any], *args: Any, backend: Any = "aot_eager", **options: Any) -> NumericsReport:
    return depyf.trace_numerics(torch.compile(function, backend=backend), **options)(*args)


def logarithm(x: Tensor, w: Tensor) -> Tensor:
    y = x - 1
    z = y * w
    return torch.log(z).sum()


def root(x: Tensor) -> Tensor:
    y = x * 2
    return torch.sqrt(y).sum()


def waves(x: Tensor, w: Tensor) -> Tensor:
    y = torch.exp(x) * w
    y = y + torch.sin(w)
    torch._dynamo.graph_break()
    return (y * 2).relu()


def masked(x: Tensor) -> Tensor:
    mask = torch.full((4, 4), float("-inf")).triu(1)
    return torch.softmax(x + mask, dim=-1).sum()


def dropped(x: Tensor) -> Tensor:
    return torch.nn.functional.dropout(x, 0.5).exp()


def twice(x: Tensor) -> Tensor:
    x = torch.log(x)
    torch._dynamo.graph_break()
    return torch.log(x)


class WrongGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.sin()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient * 1.5


def wrong_gradient(x: Tensor) -> Tensor:
    return WrongGradient.apply(x)


def replacing(target: object, other: object) -> Callable[..., Any]:
    """Return a backend that computes `other` where the program says `target`."""

    def backend(module: Any, _: object) -> Any:
        changed = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
        for node in changed.graph.nodes:
            if node.target is target:
                node.target = other
        changed.recompile()
        return changed.forward

    return backend


def test_all_is_well() -> None:
    report = trace(waves, torch.rand(4), torch.rand(4, requires_grad=True), backend="aot_eager")
    assert report.first is None
    assert report.notes == []
    assert report.calls == 2
    text = str(report)
    assert "finite: every result of" in text and "equal: 2 graphs compiled and eager" in text
    assert "equal: the compiled call and the plain Python function, in" in text
    assert report.whole is not None and report.whole.omitted == []


def test_the_first_nan_of_the_forward() -> None:
    report = trace(logarithm, torch.tensor([3.0, 0.5]), torch.ones(2))
    first_finding = report.first
    assert first_finding is not None
    assert (first_finding.kind, first_finding.part, first_finding.node) == (Kind.NAN, Part.CAPTURED, "log")
    assert first_finding.where is not None
    assert first_finding.where.text == "return torch.log(z).sum()"
    assert first_finding.where.filename == __file__
    assert "torch.log(z)" in first_finding.text
    assert report.graphs[first_finding.part, 0].splitlines()[first_finding.line - 1].strip() == first_finding.text
    assert first_finding.result is not None
    assert (first_finding.result.nans, first_finding.result.shape, first_finding.result.dtype) == (1, (2,), "float32")
    assert first_finding.result.maximum == pytest.approx(torch.tensor(2.0).log().item())
    ((name, numbers),) = first_finding.inputs
    assert (name, numbers.minimum, numbers.maximum, numbers.mean) == ("z", -0.5, 2.0, 0.75)
    assert len(report.findings) == 1, "the sum is NaN only because the logarithm is"


def test_the_first_infinity_of_the_backward() -> None:
    x = torch.tensor([4.0, 0.0], requires_grad=True)
    report = trace(root, x)
    first_finding = report.first
    assert first_finding is not None
    assert (first_finding.kind, first_finding.part) == (Kind.INFINITE, Part.BACKWARD)
    assert first_finding.where is not None
    assert first_finding.where.text == "return torch.sqrt(y).sum()"
    assert first_finding.result is not None
    assert first_finding.result.infinities == 1
    assert report.graphs[Part.BACKWARD, 0].splitlines()[first_finding.line - 1].strip() == first_finding.text
    assert x.grad is None


def test_nan_of_the_backward_alone() -> None:
    def norm(x: Tensor) -> Tensor:
        return (x * 0).norm() * 0 + torch.where(x > 0, x / x, x).sum()

    report = trace(norm, torch.tensor([0.0, 1.0], requires_grad=True))
    assert {finding.kind for finding in report.findings if finding.part is Part.BACKWARD} >= {Kind.NAN}


def test_the_backward_is_that_of_the_loss() -> None:
    x = torch.tensor([4.0, 1.0], requires_grad=True)
    assert trace(root, x).first is None
    report = trace(root, x, loss=lambda result: (result - result).sqrt())
    assert report.first is not None
    assert report.first.part is Part.BACKWARD


def test_no_backward_where_none_is_wanted() -> None:
    report = trace(root, torch.tensor([4.0, 0.0], requires_grad=True), backward=False)
    assert report.first is None


def test_infinity_that_the_program_names_is_meant() -> None:
    assert trace(masked, torch.rand(4, 4, requires_grad=True)).findings == []


def test_the_graph_in_which_it_begins() -> None:
    report = trace(twice, torch.tensor([0.5]))
    assert report.first is not None
    assert (report.first.kind, report.first.graph) == (Kind.NAN, 1)
    assert report.first.where is not None
    assert report.first.where.text == "return torch.log(x)"


def test_no_graph_is_said() -> None:
    report = trace(lambda: 1)
    assert report.calls == 0
    assert report.notes == ["Dynamo captured no graph of it, so no node was examined"]


def test_a_wrong_operation_of_a_backend() -> None:
    backend = replacing(torch.sin, torch.cos)
    report = trace(waves, torch.rand(4), torch.rand(4, requires_grad=True), backend=backend)
    first_finding = report.first
    assert first_finding is not None
    assert (first_finding.kind, first_finding.node, first_finding.gradient) == (Kind.DIFFERENT, "sin", False)
    assert first_finding.where is not None
    assert first_finding.where.text == "y = y + torch.sin(w)"
    assert first_finding.deviation is not None
    assert first_finding.deviation.count == 4
    assert len(report.findings) == 1


def test_a_wrong_gradient_of_a_backend() -> None:
    report = trace(
        waves, torch.rand(4), torch.rand(4, requires_grad=True), backend=replacing(torch.sin, wrong_gradient)
    )
    first_finding = report.first
    assert first_finding is not None
    assert (first_finding.kind, first_finding.node, first_finding.gradient) == (Kind.DIFFERENT, "sin", True)


@pytest.mark.slow
def test_a_pass_of_inductor_that_changes_an_operation() -> None:
    def wrong(graph: torch.fx.Graph) -> None:
        for node in graph.nodes:
            if node.target is torch.ops.aten.sin.default:
                node.target = torch.ops.aten.cos.default

    with torch._inductor.config.patch(post_grad_custom_post_pass=wrong, fx_graph_cache=False):
        report = trace(waves, torch.rand(4), torch.rand(4, requires_grad=True), backend="inductor")
    assert report.first is not None
    assert (report.first.kind, report.first.node) == (Kind.DIFFERENT, "sin")


def test_rounding_is_no_difference() -> None:
    def less_exact(x: Tensor) -> Tensor:
        return x.sum() * (1 + 2e-5)

    def summed(x: Tensor) -> Tensor:
        return torch.sum(x)

    x = torch.rand(100)
    assert trace(summed, x, backend=replacing(torch.sum, less_exact)).first is not None
    assert trace(summed, x, backend=replacing(torch.sum, less_exact), rtol=1e-3).first is None


def test_random_numbers_are_the_same_on_both_sides() -> None:
    x = torch.rand(50, requires_grad=True)
    before = torch.get_rng_state()
    assert trace(dropped, x).first is None
    assert torch.equal(torch.get_rng_state(), before)


def test_a_module_and_what_it_leaves_behind() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU())
    compiled = torch.compile(module, backend="eager")
    expected = compiled(torch.ones(2, 3))
    count = len(seams.cache_entries(torch.nn.Sequential.forward.__code__))
    report = depyf.trace_numerics(compiled)(torch.ones(2, 3))
    assert report.first is None
    assert all(parameter.grad is None for parameter in module.parameters())
    assert len(seams.cache_entries(torch.nn.Sequential.forward.__code__)) == count
    assert torch.equal(compiled(torch.ones(2, 3)), expected)


def test_a_context_does_not_hear_of_it(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path) as session:
        compiled = torch.compile(root, backend="aot_eager")
        compiled(torch.ones(2))
        depyf.trace_numerics(compiled)(torch.ones(2))
    assert len(list(session.compiles())) == 1
    assert session.earlier == {}


def test_a_backend_that_fails_is_a_note() -> None:
    def failing(module: Any, _: object) -> Any:
        raise ValueError("this backend is broken")

    report = depyf.trace_numerics(root, backend=failing)(torch.ones(2))
    assert report.first is None
    assert "this backend is broken" in report.notes[0]


def test_inside_of_vmap() -> None:
    def mapped(x: Tensor) -> Tensor:
        return torch.func.vmap(lambda row: torch.log(row - 1).sin())(x) * 2

    if torch._dynamo.explain(mapped)(torch.ones(2, 3)).graph_break_count:
        pytest.skip("the Dynamo of this torch calls vmap between two graphs")
    assert trace(mapped, torch.full((2, 3), 3.0), backend="eager").findings == []
    report = trace(mapped, torch.full((2, 3), 0.5), backend="eager")
    assert report.notes == []
    assert report.first is not None
    assert (report.first.kind, report.first.node) == (Kind.NAN, "log")


def test_a_wrong_result_behind_vmap() -> None:
    def mapped(x: Tensor) -> Tensor:
        return torch.func.vmap(lambda row: row * 2)(x) + torch.sin(x)

    report = trace(mapped, torch.rand(2, 3), backend=replacing(torch.sin, torch.cos))
    assert report.first is not None
    assert (report.first.kind, report.first.node) == (Kind.DIFFERENT, "sin")


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a compiled function or module, not a int"):
        depyf.trace_numerics(3)


class _Never(type):
    def __instancecheck__(cls, other: object) -> bool:
        return False


class _Tagged(metaclass=_Never):
    pass


def _chosen_by_class(x: torch.Tensor, tag: _Tagged) -> torch.Tensor:
    y = x + 1
    if isinstance(tag, _Tagged):  # Python answers for the exact class without asking the metaclass; Dynamo asks it
        return y * 12
    return y * 0


def test_a_function_that_dynamo_reads_in_another_way_is_not_called_equal() -> None:
    report = depyf.trace_numerics(_chosen_by_class, backend="eager")(torch.ones(1), _Tagged())
    text = str(report)
    assert report.findings == [], "each graph is right"
    if report.whole is not None and report.whole.mismatches:
        assert "DIFFERENT: the compiled call is not what the plain Python function does" in text
        assert report.whole.where is not None and "isinstance" in report.whole.where.text
    else:
        assert "equal: the compiled call and the plain Python function" in text


def test_a_change_of_an_argument_that_a_backend_loses_is_told() -> None:
    def loses(module: torch.fx.GraphModule, _: object) -> Any:
        def run(*inputs: Any) -> Any:
            return module.forward(*(value.clone() if isinstance(value, torch.Tensor) else value for value in inputs))

        return run

    def change(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * 2

    report = depyf.trace_numerics(change, backend=loses)(torch.ones(3))
    assert report.whole is not None
    assert [mismatch.name for mismatch in report.whole.mismatches] == ["args[0] after the call"]


def test_a_value_that_no_two_calls_share_is_not_compared() -> None:
    count = iter(range(100))

    def numbered(x: torch.Tensor) -> tuple[torch.Tensor, int]:
        return x * 2, next(count)

    report = depyf.trace_numerics(torch.compiler.disable(numbered), backend="eager")(torch.ones(3))
    assert report.whole is not None and report.whole.mismatches == []
    assert report.whole.omitted == ["result[1] differs between two calls of the plain function"]
    assert "not compared: result[1]" in str(report)


class Statistics:
    def __init__(self) -> None:
        self.calls = 0
        self.sizes: list[int] = []


def test_python_objects_are_as_after_one_call() -> None:
    statistics, history, newest = Statistics(), [1.0], deque([1, 2], maxlen=2)
    generator, order = random.Random(3), OrderedDict(a=1)

    def counted(x: torch.Tensor) -> torch.Tensor:
        statistics.calls += 1
        statistics.sizes.append(len(x))
        history.append(2.0)
        newest.append(3)
        order["b"] = 2
        generator.random()
        return x * 2

    report = depyf.trace_numerics(torch.compiler.disable(counted), backend="eager")(torch.ones(3))
    assert report.whole is not None and report.whole.mismatches == [] and report.whole.omitted == []
    expected = random.Random(3)
    expected.random()
    assert (statistics.calls, statistics.sizes, history) == (1, [3], [1.0, 2.0])
    assert (list(newest), list(order), generator.random()) == ([2, 3], ["a", "b"], expected.random())


def test_changes_of_python_objects_are_compared() -> None:
    history: list[int] = [1]
    compiled, plain = Outcome({"the result": 1}), Outcome({"the result": 1})
    state = PythonState([("history", history)])
    history.append(2)
    plain.values.update(state.changed())
    state.restore()
    assert history == [1] and list(state.changed()) == []
    comparison = compared(compiled, plain, plain, plain)
    assert [str(mismatch) for mismatch in comparison.mismatches] == [
        "history: compiled unchanged, plain Python list(1, 2)"
    ]


class Counter:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


def test_tensors_of_any_kind_and_objects_of_any_class_are_put_back() -> None:
    counter, kept = Counter(), [torch.zeros(2, dtype=torch.float8_e4m3fn), torch.ones(2)]
    weight = torch.ones(2, requires_grad=True)
    loss = (weight * kept[1]).sum()
    state = PythonState([("counter", counter), ("kept", kept), ("things", {Unprintable()})])
    assert state.is_whole
    counter()
    assert [name for name, _ in state.changed()] == ["counter"]
    state.restore()
    loss.backward()  # It needs `kept[1]`, which was not written.
    assert counter.calls == 0
    with torch.inference_mode():
        cache = [torch.ones(2)]
    state = PythonState([("cache", cache)])
    state.restore()
    assert not state.is_whole


def test_a_difference_that_rounding_explains_is_not_called_equal() -> None:
    plain, compiled, rounded = (Outcome({"the result": torch.tensor([value])}) for value in (24.0, 25.0, 23.0))
    comparison = compared(compiled, plain, plain, rounded)
    assert (comparison.compared, comparison.mismatches) == ([], [])
    assert comparison.omitted == [
        "the result: compiled 25, plain Python 24; one rounding of the arguments moves it as far"
    ]


def test_modules_are_as_after_one_call() -> None:
    norm = torch.nn.BatchNorm1d(4)
    norm_of_one_call = torch.nn.BatchNorm1d(4)
    x = torch.randn(8, 4)
    norm_of_one_call(x)
    report = depyf.trace_numerics(norm, backend="aot_eager")(x)
    assert report.whole is not None and report.whole.mismatches == []
    assert torch.equal(norm.running_mean, norm_of_one_call.running_mean)
    assert int(norm.num_batches_tracked) == 1


def test_the_gradient_of_a_sum_after_a_normalisation_is_zero_up_to_rounding() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))
    report = depyf.trace_numerics(net, backend="aot_eager")(torch.randn(4, 8))
    assert report.whole is not None and report.whole.mismatches == []
    assert "gradient of `0.weight`" in report.whole.compared or "gradient of 0.weight" in report.whole.compared


def test_nan_is_seen_through_a_dtype_of_eight_bits() -> None:
    def narrow(x: torch.Tensor) -> torch.Tensor:
        return (x - 1).log().to(torch.float8_e4m3fn).to(torch.float32)

    report = depyf.trace_numerics(narrow, backend="aot_eager", backward=False)(torch.zeros(3))
    assert report.first is not None and report.first.node == "log"
    assert not any("could not be run" in note for note in report.notes)
