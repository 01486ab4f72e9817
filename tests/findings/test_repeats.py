"""Equal blocks in a captured graph."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import pytest
import torch
from torch._dynamo.testing import CompileCounter

import depyf
from depyf.findings import findings
from depyf.model.index_reader import read_run
from depyf.model.repeats import Repeat, repeats_in

HEAD = """\
class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[2]cpu"):
        l_x_ = L_x_
"""


def graph(count: int, odd: int = -1, other: str = "") -> str:
    """Return a graph with equal blocks; `other` replaces an operation of the block `odd`."""
    lines, value = [HEAD], "l_x_"
    for number in range(count):
        name = f"l_self_modules_layers_modules_{number}_parameters_weight_"
        lines.insert(1, f"        {name} = {name.upper()}\n")
        middle = other if number == odd else f"torch.relu(mul_{number})"
        lines += [
            "        # File: /model.py:7 in forward, code: return f(x, self.weight)\n",
            f'        mul_{number}: "f32[2]cpu" = {value} * {name};  {name} = None\n',
            f'        relu_{number}: "f32[2]cpu" = {middle};  mul_{number} = None\n',
            f'        sin_{number}: "f32[2]cpu" = torch.sin(relu_{number})\n',
            f'        cos_{number}: "f32[2]cpu" = torch.cos(sin_{number});  sin_{number} = None\n',
            f'        add_{number}: "f32[2]cpu" = cos_{number} + relu_{number};  cos_{number} = None\n',
        ]
        value = f"add_{number}"
    return "".join([*lines, f"        return ({value},)\n"])


def runs(text: str) -> list[tuple[str, str, int, int]]:
    return [(repeat.first, repeat.last, repeat.blocks, repeat.operations) for repeat in repeats_in(text)]


def test_equal_blocks_are_found_with_the_paths_of_their_modules() -> None:
    assert runs(graph(6)) == [("layers.0", "layers.5", 6, 5)]
    (repeat,) = repeats_in(graph(6))
    assert (repeat.whole, repeat.where.line if repeat.where else 0) == (30, 7)
    assert runs(graph(3)) == []


@pytest.mark.parametrize(
    "other",
    ["torch.tanh(mul_4)", "torch.relu(l_x_)", "torch.relu(cos_3)", "mul_4 * 2.0"],
    ids=["another operation", "another input", "another value", "a constant"],
)
def test_a_block_that_computes_something_else_ends_a_run(other: str) -> None:
    assert runs(graph(8, 4, other)) == [("layers.0", "layers.3", 4, 5)]


def test_the_order_of_unrelated_text_does_not_matter() -> None:
    text = graph(6)
    shuffled = text.splitlines(keepends=True)
    copies = [line for line in shuffled if line.startswith("        l_self")]
    random.Random(0).shuffle(copies)
    rest = [line for line in shuffled if not line.startswith("        l_self")]
    assert runs("".join([*rest[:3], *copies, *rest[3:]])) == runs(text)


def test_a_finding_names_the_blocks_and_survives_the_index(tmp_path: Path) -> None:
    layers = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(5)))

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = layers

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in self.layers:
                x = (layer(x).sin().relu() + x).cos()
            return x

    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(Model(), backend="eager")(torch.ones(2, 4))
    (finding,) = findings(session)
    assert finding.kind == "repeated-blocks"
    assert finding.cause == "`layers.0` to `layers.4` are equal graphs: 25 of 25 operations are compiled 5 times"
    assert "`for block in model.layers: block.compile()`" in finding.fix
    read = read_run(tmp_path).session
    assert findings(read)[0].cause == finding.cause
    ((_, compiled),) = read.compiles()
    assert [type(repeat) for repeat in compiled.repeats] == [Repeat]


def test_blocks_of_torchs_own_class_are_compiled_by_their_forward(tmp_path: Path) -> None:
    blocks = [torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0) for _ in range(4)]
    model, x = torch.nn.Sequential(*blocks), torch.ones(1, 3, 8, requires_grad=True)
    counter = CompileCounter()
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(model, backend=counter)(x)
    (finding,) = findings(session)
    assert "`for block in model: block.forward = torch.compile(block.forward)`" in finding.fix
    counter.frame_count = 0
    for block in model:
        block.compile(backend=counter)
    model(x)
    assert counter.frame_count == 0, "Dynamo leaves out the modules of torch"
    for block in model:
        block.forward = torch.compile(block.forward, backend=counter)
    model(x)
    assert counter.frame_count == 1


def test_a_trace_tells_the_same(tmp_path: Path) -> None:
    commands = pytest.importorskip("depyf.cli.commands", reason="the command line needs click")
    records: list[tuple[dict[str, object], str]] = [
        ({"dynamo_start": {"stack": []}}, ""),
        ({"dynamo_output_graph": {}}, graph(5)),
        ({"compilation_metrics": {"co_name": "forward"}}, ""),
    ]
    lines = []
    for number, (record, payload) in enumerate(records):
        metadata = {**record, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
        if payload:
            metadata["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
        lines.append(f"V0718 15:30:0{number}.875000 1 torch/_dynamo/utils.py:1900] {json.dumps(metadata)}\n")
        lines += [f"\t{line}" for line in payload.splitlines(keepends=True)]
    (tmp_path / "trace.log").write_text("".join(lines), encoding="utf-8")
    from click.testing import CliRunner

    done = CliRunner().invoke(commands.depyf, ["report", str(tmp_path / "trace.log"), "-o", str(tmp_path / "report")])
    assert done.exit_code == 0, done.output
    run_findings = [
        finding for path in tmp_path.rglob("index.json") for finding in findings(read_run(path.parent).session)
    ]
    assert [finding.kind for finding in run_findings] == ["repeated-blocks"]
