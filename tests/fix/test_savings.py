"""Savings of compile time: their edits, their predictions, their table, and the command on a model of equal blocks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

import libcst as cst

from depyf.fix.counts import Counts
from depyf.fix.edit import RefusedError
from depyf.fix.results import Record, Verdict
from depyf.fix.savings import HELPS, NO_GAIN, Savings, TriedSaving, _sameness
from depyf.fix.savings_candidates import BORDER, Saving, _scaled, _switches
from depyf.fix.savings_edits import compile_blocks, reuse_region, without_option, without_statement
from depyf.fix.savings_facts import Measured
from depyf.fix.savings_told import data, lines
from depyf.fix.tries import Outcome, Sameness
from depyf.model.cold_start import ColdStart
from depyf.model.compile_times import OWN, Cell, CompileTimes, Place
from depyf.model.repeats import reads_an_input, repeats_in
from depyf.trace.start_clock import processor_time

ROOT = Path(__file__).resolve().parents[2]


def blocks(text: str, *containers: str, is_tried: bool = False) -> str:
    return compile_blocks(containers, is_tried=is_tried)(cst.parse_module(text), 1).code


@pytest.mark.parametrize(
    ("before", "container", "after"),
    [
        (
            "step = torch.compile(model, backend='eager')\n",
            "layers",
            "for block in model.layers:\n    block.compile(backend='eager')\nstep = model\n",
        ),
        (
            "step = torch.compile(Model().eval())  # why\n",
            "stages.0.blocks",
            "step = Model().eval()  # why\nfor block in step.stages[0].blocks:\n    block.compile()\n",
        ),
        (
            "self.net = torch.compile(self.net, mode=mode,)\n",
            "",
            "for block in self.net:\n    block.compile(mode=mode)\nself.net = self.net\n",
        ),
        ("y = torch.compile(model)(x)\n", "h", "for block in model.h:\n    block.compile()\ny = model(x)\n"),
        ("model.compile(dynamic=True)\n", "h", "for block in model.h:\n    block.compile(dynamic=True)\n"),
    ],
)
def test_blocks_are_compiled_in_place_of_the_model(before: str, container: str, after: str) -> None:
    assert blocks(before, container) == after


def test_blocks_of_torchs_own_class_are_compiled_by_their_forward() -> None:
    change = compile_blocks(["layers"], is_tried=False, of_torch=True)
    line = "for block in model.layers:\n    block.forward = torch.compile(block.forward{})\n"
    for given, more in (("", ""), (", dynamic=True", ", dynamic=True")):
        text = change(cst.parse_module(f"step = torch.compile(model{given})\n"), 1).code
        assert text == line.format(more) + "step = model\n"


def test_a_try_records_the_results_of_the_model() -> None:
    tried = blocks("step = torch.compile(model)\n", "encoder", "decoder", is_tried=True)
    assert tried.endswith("for block in model.decoder:\n    block.compile()\nstep = depyf_watched(model)\n")
    assert blocks("model.compile()\n", "h", is_tried=True).endswith("\ndepyf_watched(model)\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("step = torch.compile(model, **options)\n", "not written out"),
        ("run(torch.compile(Model()))\n", "named module"),
        ("y = torch.compile(Model())(x)\n", "plain name"),
        ("step = torch.compile(backend='eager')\n", "no `torch.compile"),
        ("if fast: step = torch.compile(model)\n", "no plain statement"),
    ],
)
def test_a_call_that_cannot_be_rewritten_is_refused(text: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        blocks(text, "layers")


def test_a_region_is_marked_once() -> None:
    text = "class Block(Module):\n    def forward(self, x):\n        return x\n"
    marked = reuse_region("Block")(cst.parse_module(text), 2).code
    assert "    @torch.compiler.nested_compile_region\n    def forward(self, x):\n" in marked
    for name, other in (("Other", text), ("Block", marked)):
        with pytest.raises(RefusedError, match="defines no class"):
            reuse_region(name)(cst.parse_module(other), 2)


def test_an_option_and_a_statement_go() -> None:
    module = cst.parse_module("f = torch.compile(g, mode='max-autotune')\nconfig.fx_graph_cache = False\n")
    assert without_option("mode")(module, 1).code.startswith("f = torch.compile(g)\n")
    assert without_statement(module, 2).code == "f = torch.compile(g, mode='max-autotune')\n"
    with pytest.raises(RefusedError):
        without_option("dynamic")(module, 1)


def test_a_switch_of_a_cache_counts_only_with_the_value_that_turns_it_off() -> None:
    text = "c.force_disable_caches = True\nc.fx_graph_cache = True\nc.enable_autograd_cache = False\n"
    assert list(_switches(text)) == [(1, "force_disable_caches"), (3, "enable_autograd_cache")]


def test_what_exceeds_the_floor_shrinks() -> None:
    before, floor = {"tracing": 5.0, "imports": 1.0, "guards": 0.2}, {"tracing": 1.0, "imports": 1.5}
    assert _scaled(before, floor, lambda stage: 0.25) == pytest.approx(1.0 + 4.0 / 4 + 1.0 + 0.2 / 4)


def test_the_first_block_reads_an_input_only_where_nothing_comes_before_it() -> None:
    head = "class GraphModule(torch.nn.Module):\n    def forward(self, l_x_):\n        l_x_ = L_x_\n"
    place = "         # File: model.py:{} in forward, code: y\n"
    block = place.format(7) + "".join(f"        {{}}: 'f32' = torch.{op}({{}})\n" for op in ("a", "b", "c", "d", "e"))

    def graph(first: str) -> str:
        names, text = [first, *(f"v{number}" for number in range(25))], ""
        for at in range(5):
            pairs = [(names[5 * at + pair + 1], names[5 * at + pair]) for pair in range(5)]
            text += block.format(*(name for pair in pairs for name in pair))
        return text

    alone = head + graph("l_x_")
    after = head + place.format(3) + "        first: 'f32' = torch.embedding(l_x_)\n" + graph("first")
    for text, reads in ((alone, True), (after, False)):
        repeat = repeats_in(text)[0]
        assert (repeat.blocks, repeat.operations) == (5, 5)
        assert reads_an_input(text, repeat) is reads


def test_the_clock_of_the_processor_does_not_count_sleep() -> None:
    import time

    began = processor_time()
    time.sleep(0.2)
    assert processor_time() - began < 0.15e9
    sum(range(3_000_000))
    assert processor_time() - began > 0.005e9


def measured(seconds: float, step: float) -> Measured:
    record = Record([[1.0]] * 4, {}, [9.0, step, step, step])
    start = ColdStart(seconds + 6.0, 0.1, {"torch": 4.0, "depyf": 0.5}, seconds, 1.0, 1.0)
    times = CompileTimes([Place(-1, "m.py", 1, "f")], [Cell("0/0", 0, "tracing", seconds), Cell("0/0", 0, OWN, 0.5)])
    times.start = start
    return Measured(Outcome(0, b"", Counts(), record), times)


def example() -> Savings:
    def unused(module: cst.Module, line: int) -> cst.Module:
        raise AssertionError((module, line))

    same = Sameness(Verdict(True, True, compared=4), Verdict(True, True, compared=4))
    saving = Saving(BORDER, "m.py", 7, "compile each block", "they are equal", 34.0, unused, unused)
    plain, changed_run = measured(41.0, 0.01), measured(10.0, 0.0102)
    kept = TriedSaving(saving, HELPS, same.words, plain.seconds, changed_run, same, is_kept=True)
    other = TriedSaving(saving, NO_GAIN, same.words, plain.seconds, measured(42.0, 0.01), same)
    return Savings(plain, plain.outcome, [other, kept], changed_run, same, {"m.py": ""})


def test_the_table_has_what_was_predicted_and_what_was_measured() -> None:
    text = "\n".join(lines(example(), "p.patch"))
    assert (
        "run as it is: 41.0 s compiling, cold start 46.0 s, a call 10.00 ms\n  1. m.py:7  compile each block\n" in text
    )
    assert "predicted 34.0 s less, measured 31.0 s less: 41.0 s -> 10.0 s, step time 1.02; results equal in 4" in text
    assert "measured 1.00 s more: 41.0 s -> 42.0 s" in text and "no gain, dropped" in text


def test_results_may_be_those_of_eager_where_the_program_as_it_is_differs() -> None:
    def run(value: float, output: bytes = b"") -> Outcome:
        return Outcome(0, output, Counts(), Record([[value]]))

    assert _sameness(run(1.0), run(1.0), run(1.0)).words == "results equal in 1 call"
    assert "as without any compile" in _sameness(run(1.0), run(2.0), run(1.0)).words
    assert not _sameness(run(1.0), run(2.0), run(2.0)).is_equal
    assert not _sameness(run(3.0), run(2.0), run(1.0)).is_equal
    assert not _sameness(run(1.0, b"other"), run(2.0), run(1.0)).is_equal


def test_the_data_follows_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="a development tool")
    schema = json.loads((ROOT / "docs" / "savings.schema.json").read_text("utf-8"))
    content = data(example(), "")
    jsonschema.validate(content, schema)
    assert [trial["measured_seconds"] for trial in content["tried"]] == [31.0, -1.0]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content | {"more": 1}, schema)


PROGRAM = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.layers = nn.ModuleList(Block() for _ in range(16))

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return x.mean()


step = torch.compile(Model(), backend="aot_eager")
for _ in range(5):
    loss = step(torch.randn(4, 8))
    loss.backward()
    print(f"{loss.item():.4f}")
"""


@pytest.mark.slow
def test_equal_blocks_are_compiled_once_and_the_patch_says_so(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "-m", "depyf", "fix", "--compile-time", "--apply", program.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "train.py:27  compile each block of `layers`, not the model" in done.stdout
    assert "`layers.0` to `layers.15` are equal graphs" in done.stdout
    assert "step time" in done.stdout and "results equal in 5 calls" in done.stdout
    after = 'step = Model()\nfor block in step.layers:\n    block.compile(backend="aot_eager")\n'
    assert after in program.read_text("utf-8") and "depyf_watched" not in program.read_text("utf-8")
    savings = json.loads((tmp_path / "savings.json").read_text("utf-8"))
    assert savings["made"]["compile_seconds"] < savings["plain"]["compile_seconds"]
