"""The first kernel and line whose bits are not eager's: planted differences, and programs of exact operations."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from torch._inductor.graph import GraphLowering  # noqa: E402 - after the check that torch is there

import depyf  # noqa: E402 - after the check that torch is there
from depyf.torch.bits.gaps import gap  # noqa: E402
from depyf.torch.bits.kernels import nearest_of  # noqa: E402
from depyf.views.html.bits import bits_page  # noqa: E402

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "bits.schema.json"
Tensor = torch.Tensor

slow = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not hasattr(GraphLowering, "_compile_to_module_lines"),
        reason="the code generator of this torch has other seams",
    ),
]


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)


def exact(x: Tensor, w: Tensor) -> Tensor:
    return torch.relu(x * 2.0 + 1.0) - w


def summed(x: Tensor, w: Tensor) -> Tensor:
    y = torch.relu(x * 2.0 + 1.0)
    z = y.sum(-1, keepdim=True)
    return z - w


def reduced(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    most = x.amax()
    y = torch.where(x > most, most, x * 0.5)
    z = y.sum(-1)
    return z * 2.0, most


def contracted(x: Tensor, w: Tensor) -> Tensor:
    z = x * w + w
    return z * 4.0


def normalised(x: Tensor, w: Tensor) -> Tensor:
    y = x * 2.0
    z = torch.nn.functional.layer_norm(y, (100,))
    return z - w


def halves(x: Tensor, w: Tensor) -> Tensor:
    y = x.bfloat16() + w.bfloat16()
    return torch.relu(y * 3.0)


class TestGap:
    def test_counts_values_and_units(self) -> None:
        right = torch.tensor([1.0, 2.0, -1.0, 0.0])
        ours = right.clone()
        ours[0] = torch.nextafter(ours[0], torch.tensor(2.0))
        ours[2] = torch.nextafter(torch.nextafter(ours[2], torch.tensor(-2.0)), torch.tensor(-2.0))
        difference = gap(ours, right)
        assert difference is not None
        assert (difference.count, difference.total, difference.ulps, difference.at) == (2, 4, 2, (0,))
        assert difference.histogram == {1: 1, 2: 1}

    def test_a_zero_with_a_sign_has_other_bits(self) -> None:
        assert gap(torch.tensor([-0.0]), torch.tensor([0.0])) is not None

    def test_all_nan_are_one_value(self) -> None:
        assert gap(torch.tensor([float("nan")]), torch.tensor([-float("nan")])) is None


class TestNearest:
    def test_a_sum_with_a_small_constant_does_not_hide_the_node(self) -> None:
        mean = torch.tensor([0.25, 0.5])
        value = torch.nextafter(mean, torch.tensor(1.0))
        assert nearest_of(value, {"mean": mean, "add": mean + 1e-4, "rsqrt": mean.rsqrt()}) == "mean"

    def test_it_is_not_clear_which_of_two_nodes_that_are_as_near(self) -> None:
        mean = torch.tensor([0.25, 0.5])
        value = torch.nextafter(mean, torch.tensor(1.0))
        assert nearest_of(value, {"mean": mean, "clone": mean.clone()}) == ""
        assert nearest_of(value, {"rsqrt": mean.rsqrt()}) == ""


class TestFirstDifference:
    pytestmark = slow

    def test_exact_operations_have_no_difference(self) -> None:
        x = torch.randn(64, 100, requires_grad=True)
        report = depyf.first_difference(torch.compile(exact))(x, torch.randn(100))
        assert report.first is None
        assert not report.results_different
        assert len(report.results_compared) == 4, "the result, both inputs afterwards, and one gradient"
        assert str(report).splitlines()[2].startswith("No difference: 4 results")

    def test_a_sum_is_the_first_line(self) -> None:
        first = depyf.first_difference(torch.compile(summed))(torch.randn(64, 100), torch.randn(100)).first
        assert first is not None
        assert first.where is not None
        assert first.where.text == "z = y.sum(-1, keepdim=True)"
        assert "sum" in first.kernel
        assert first.cause.startswith("probably the order of the reduction")

    def test_the_data_has_the_form_of_the_schema_and_the_page_shows_it(self) -> None:
        report = depyf.first_difference(torch.compile(summed))(torch.randn(64, 100), torch.randn(100))
        content = json.loads(json.dumps(report.data()))
        jsonschema.validate(content, json.loads(SCHEMA.read_text(encoding="utf-8")))
        page = bits_page(content, str(report).splitlines())
        assert page.count("<b>first difference</b>") == 1
        assert "z = y.sum(-1, keepdim=True)" in page

    def test_a_sum_that_a_kernel_stores_for_its_next_loop_has_its_line(self) -> None:
        first = depyf.first_difference(torch.compile(reduced))(torch.randn(32, 48), torch.randn(1)).first
        assert first is not None
        assert first.where is not None
        assert first.where.text == "z = y.sum(-1)"

    def test_a_contraction_that_probes_of_all_lines_hide_has_its_line(self) -> None:
        settings = {"cpp.enable_floating_point_contract_flag": "fast"}
        run = depyf.first_difference(torch.compile(contracted), settings=settings)
        first = run(torch.randn(32, 48), torch.randn(48)).first
        assert first is not None
        assert first.where is not None
        assert first.where.text == "z = x * w + w"

    def test_a_decomposed_operation_is_compared_with_the_whole_operation(self) -> None:
        first = depyf.first_difference(torch.compile(normalised))(torch.randn(64, 100), torch.randn(100)).first
        assert first is not None
        assert first.where is not None
        assert first.where.text.startswith("z = torch.nn.functional.layer_norm")
        assert first.cause.startswith("decomposition: eager computes native_layer_norm")

    def test_a_setting_that_restores_is_confirmed(self) -> None:
        run = depyf.first_difference(torch.compile(halves), restore=True)
        report = run(torch.randn(64, 100), torch.randn(100))
        assert "emulate_precision_casts=True" in [attempt.setting for attempt in report.restored]
        assert report.first is not None
        assert report.first.cause.startswith("precision of an intermediate")

    def test_another_backend_is_refused(self) -> None:
        with pytest.raises(TypeError, match="the backend is another one"):
            depyf.first_difference(torch.compile(exact, backend="aot_eager"))

    def test_an_unknown_setting_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no option 'nonsense'"):
            depyf.first_difference(torch.compile(exact), settings={"nonsense": 1})


SCRIPT = """import torch
@torch.compile
def score(x):
    y = torch.relu(x * 2.0 + 1.0)
    return y{}
score(torch.arange(6400.0).reshape(64, 100) / 7)
"""


def command(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "depyf", "bits", *options, str(path)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


class TestCommand:
    pytestmark = slow

    def test_names_the_line_and_exits_with_1(self, tmp_path: Path) -> None:
        path = tmp_path / "train.py"
        path.write_text(SCRIPT.format(".sum(-1)"))
        ended = command(path)
        assert ended.returncode == 1, ended.stderr
        assert "train.py:5 `return y.sum(-1)`" in ended.stdout

    def test_exits_with_0_for_equal_bits(self, tmp_path: Path) -> None:
        path = tmp_path / "train.py"
        path.write_text(SCRIPT.format(""))
        ended = command(path)
        assert ended.returncode == 0, ended.stderr
        assert "No difference: 2 results with equal bits" in ended.stdout

    def test_exits_with_1_if_nothing_was_compared(self, tmp_path: Path) -> None:
        path = tmp_path / "train.py"
        path.write_text("print(1)\n")
        ended = command(path)
        assert ended.returncode == 1
        assert "Nothing was compared" in ended.stdout

    def test_exits_with_2_for_no_script_and_no_setting(self, tmp_path: Path) -> None:
        path = tmp_path / "train.py"
        assert command(path).returncode == 2
        path.write_text("")
        assert command(path, "--set", "nonsense=1").returncode == 2
        assert command(path, "--set", "nonsense").returncode == 2
