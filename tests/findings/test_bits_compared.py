"""Two recorded runs: the first tensor that differs, aligned by lines and nodes, and what is not compared."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
from click.testing import CliRunner

from depyf.cli.bits import bits
from depyf.findings.bits_compared import NOT_COMPARED, compared
from depyf.model.bits_log import (
    FILE,
    BitsLog,
    CallRow,
    LaunchRow,
    ModuleRow,
    ResultRow,
    facts_line,
    line_of,
    read_bits,
    stop_line,
)
from depyf.model.user_line import UserLine
from depyf.views.bits_text import bits_json, bits_lines

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "bits.schema.json"
FACTS = {
    "torch": "2.13.0",
    "device": "cpu",
    "threads": 2,
    "environment": {},
    "command": "python -m nothing",
    "directory": "/nowhere",
}


def where(line: int, text: str, folder: str = "/a") -> UserLine:
    return UserLine(f"{folder}/train.py", line, text, "step")


def module(number: int = 0, *, folder: str = "/a", kernel: str = "cpp_fused_sum_1", part: str = "forward") -> ModuleRow:
    product = ResultRow("", "mm", "matmul", where(7, "y = x @ w", folder))
    total = ResultRow("out_ptr0", "sum_1", "z", where(8, "z = y.sum(-1)", folder))
    launches = (LaunchRow("extern_kernels.mm", "", (product,)), LaunchRow(kernel, "aa", (total,)))
    return ModuleRow(number, "0/0", "step", part, ("x", "w"), launches)


def log(*calls: CallRow, modules: tuple[ModuleRow, ...] = (module(),), **facts: object) -> BitsLog:
    return BitsLog(Path("a"), {**FACTS, **facts}, {row.number: row for row in modules}, list(calls))


def call(number: int, *hashes: str, inputs: tuple[str, ...] = ("f32[2]:0", "f32[2]:1"), of: int = 0) -> CallRow:
    return CallRow(of, number, inputs, tuple((f"f32[2]:{value}",) for value in hashes))


def text_of(ours: BitsLog, theirs: BitsLog) -> str:
    return "\n".join(bits_lines(compared(ours, theirs), ("a", "b"), []))


class TestFirst:
    def test_names_the_first_kernel_in_the_order_of_the_first_run(self) -> None:
        comparison = compared(log(call(0, "1", "2"), call(1, "3", "4")), log(call(0, "1", "2"), call(1, "3", "5")))
        first = comparison.first
        assert first is not None and first.kernel is not None
        assert (first.call, first.equal_before, first.inputs_compared) == (1, 3, 2)
        assert first.kernel.launches[0].kernel == "cpp_fused_sum_1"
        assert first.kernel.result.where == where(8, "z = y.sum(-1)")

    def test_aligns_runs_of_other_folders_and_other_kernel_names(self) -> None:
        other = module(5, folder="/home/b", kernel="triton_red_fused_sum_0")
        comparison = compared(log(call(0, "1", "2")), log(call(0, "1", "9", of=5), modules=(other,)))
        assert comparison.first is not None and comparison.first.kernel is not None
        assert "(`triton_red_fused_sum_0` in b)" in "\n".join(bits_lines(comparison, ("a", "b"), []))

    def test_inputs_that_differ_come_before_the_kernels_of_their_call(self) -> None:
        theirs = log(call(0, "9", "9", inputs=("f32[2]:7", "f32[2]:1")))
        text = text_of(log(call(0, "1", "2")), theirs)
        assert "First difference: 1 input of call 1 of the forward of `step`, compile 0/0:\n  `x` (f32[2])" in text
        assert "Cause: no kernel that was compared gave these" in text

    def test_equal_runs_have_no_first_difference(self) -> None:
        comparison = compared(log(call(0, "1", "2")), log(call(0, "1", "2"), threads=1))
        assert comparison.is_equal
        assert comparison.facts == {"threads": ("2", "1")}


class TestNotCompared:
    def test_a_result_that_the_other_run_does_not_store(self) -> None:
        fused = ModuleRow(0, "0/0", "step", "forward", ("x", "w"), module().launches[1:])
        comparison = compared(log(call(0, "1", "2")), log(call(0, "2"), modules=(fused,)))
        assert comparison.first is None and comparison.count(NOT_COMPARED) == 1
        assert comparison.is_equal

    def test_another_shape_is_no_difference_of_bits(self) -> None:
        theirs = CallRow(0, 0, ("", ""), (("f32[3]:1",), ("f32[2]:2",)))
        text = text_of(log(call(0, "1", "2")), log(theirs))
        assert "1 tensors with another dtype or shape, such as results of `extern_kernels.mm`" in text
        assert "No difference: 1 kernel launch with equal hashes" in text

    def test_calls_without_a_counterpart_are_counted(self) -> None:
        text = text_of(log(call(0, "1", "2"), call(1, "1", "2")), log(call(0, "1", "2")))
        assert "not compared: 1 call of the first run: the other run has no such call" in text

    def test_hashes_of_a_cpu_and_a_gpu_are_not_compared(self) -> None:
        comparison = compared(log(call(0, "1", "2")), log(call(0, "1", "2"), device="H200"))
        assert not comparison.is_equal and comparison.calls == 0
        assert "Nothing was compared" in text_of(log(call(0, "1", "2")), log(call(0, "1", "2"), device="H200"))

    def test_a_backward_is_no_partner_of_a_forward(self) -> None:
        backward = module(part="backward")
        assert compared(log(call(0, "1", "2")), log(call(0, "1", "2"), modules=(backward,))).pairs == []


class TestFile:
    def written(self, folder: Path, *calls: CallRow, end: str = "") -> Path:
        folder.mkdir()
        lines = (facts_line(FACTS), line_of(module()), *map(line_of, calls), end)
        (folder / FILE).write_text("".join(lines), encoding="utf-8")
        return folder

    def test_is_read_as_it_was_written_up_to_a_line_that_was_cut_off(self, tmp_path: Path) -> None:
        folder = self.written(tmp_path / "a", call(0, "1", "2"), end='{"kind":"call","mod')
        read = read_bits(folder)
        assert read.modules == {0: module()}
        assert read.calls == [call(0, "1", "2")]

    def test_a_recording_that_stopped_says_so(self, tmp_path: Path) -> None:
        ours = self.written(tmp_path / "a", call(0, "1", "2"), end=stop_line("9 tensors were recorded"))
        assert "not compared: the rest of the first run: 9 tensors were recorded" in text_of(
            read_bits(ours), log(call(0, "1", "2"))
        )

    def test_the_command_compares_dumps_and_their_ranks(self, tmp_path: Path) -> None:
        for name, value in (("a", "2"), ("b", "3")):
            (tmp_path / name).mkdir()
            self.written(tmp_path / name / "rank_0", call(0, "1", "2"))
            self.written(tmp_path / name / "rank_1", call(0, "1", value))
        page = tmp_path / "bits.html"
        ended = CliRunner().invoke(bits, ["--html", str(page), str(tmp_path / "a"), str(tmp_path / "b"), "--json"])
        assert ended.exit_code == 1, ended.output
        equal, different = json.loads(ended.output)
        for content in (equal, different):
            jsonschema.validate(content, json.loads(SCHEMA.read_text(encoding="utf-8")))
        assert "first difference" not in page.read_text(encoding="utf-8")
        second = page.with_name("bits_1.html").read_text(encoding="utf-8")
        assert "train.py:8 z = y.sum(-1)" in second
        assert second.count("<b>first difference</b>") == 1
        assert equal["equal"] and not different["equal"]
        assert different["first"]["kernels"] == ["cpp_fused_sum_1", "cpp_fused_sum_1"]
        ended = CliRunner().invoke(bits, [str(tmp_path / "a" / "rank_1"), str(tmp_path / "b" / "rank_1")])
        assert "`--bits-of 0.0.1` for" in ended.output

    def test_the_command_refuses_a_dump_without_bits_and_a_single_dump(self, tmp_path: Path) -> None:
        ours = self.written(tmp_path / "a", call(0, "1", "2"))
        empty = tmp_path / "empty"
        empty.mkdir()
        assert CliRunner().invoke(bits, [str(ours), str(empty)]).exit_code == 2
        assert CliRunner().invoke(bits, [str(ours)]).exit_code == 2


def test_the_chain_has_each_launch_once_with_its_calls() -> None:
    comparison = compared(log(call(0, "1", "2"), call(1, "3", "4")), log(call(0, "1", "2"), call(1, "3", "5")))
    kernels = bits_json(comparison, ("a", "b"))["kernels"]
    assert [kernel["status"] for kernel in kernels] == ["equal", "different"]
    assert kernels[1]["calls"] == {"equal": 1, "different": 1, "not compared": 0}
    assert kernels[1]["first_different_call"] == 1
