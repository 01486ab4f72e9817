"""`depyf run --compile-times` and `depyf show --compile-times`: what a user sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
import os
import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        return x + activation(self.linear(x))


def activation(x):
    for _ in range(30):
        x = x * 2
    return x


layers = torch.nn.Sequential(Block(), Block())
compiled = torch.compile(layers, backend="aot_eager")
compiled(torch.randn(4, 8)).sum().backward()
if os.fork() == 0:
    os._exit(0)
os.wait()
"""


def depyf(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "depyf", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the program forks")
def test_a_run_says_where_its_compile_time_went(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    (tmp_path / "model.py").write_text(PROGRAM, encoding="utf-8")
    run = depyf("run", "--compile-times", "-o", "dump", "model.py", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    lines = [line for line in run.stderr.splitlines() if line.startswith("depyf: compile times: ")]
    assert len(lines) == 1
    assert "could not be attributed; measuring took about" in lines[0]
    assert "  by function, without the calls in it:" in run.stderr
    assert "traced 2 times" in run.stderr
    assert "line 16: " in run.stderr
    assert "0 (Block): " in run.stderr.partition("by module")[2]
    shown = depyf("show", "--compile-times", "dump", cwd=tmp_path).stdout
    assert "by stage:" in shown
    page = (tmp_path / "dump" / "report" / "index.html").read_text(encoding="utf-8")
    assert "Compile time by line" in page
    assert "<td>line 16</td>" in page
    content = json.loads((tmp_path / "dump" / "compile_times.json").read_text(encoding="utf-8"))
    schema = json.loads((ROOT / "docs" / "compile_times.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, schema)
    assert abs(sum(cell[3] for cell in content["cells"]) - content["seconds"]) < 1e-4
    assert content["attributed"] > 0.95 * content["seconds"]
    start = content["cold_start"]
    assert "  cold start: " in run.stderr
    parts = sum(start["imports"].values()) + start["compiles"] + start["program"] + (start["before"] or 0)
    assert parts == pytest.approx(start["seconds"], abs=0.01), "the parts add up to the whole"
    assert next(iter(start["imports"])) == "torch", "nothing else takes as long to import"
    assert ("0/0", "Sequential.forward") in [tuple(wait[2:]) for wait in start["waits"]]
    assert ("0/0", "the backward of Sequential.forward") in [tuple(wait[2:]) for wait in start["waits"]]
    assert start["early"] < start["waits"][0][0]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**content, "cells": [["0/0", 0, "tracing", -1.0]]}, schema)
    viewed = json.loads(depyf("show", "--compile-times", "--json", "dump", cwd=tmp_path).stdout)
    jsonschema.validate(viewed, json.loads((ROOT / "docs" / "show.schema.json").read_text(encoding="utf-8")))
    (item,) = viewed["processes"][0]["items"]
    assert [function["function"] for function in item["functions"]] == [
        function["function"] for function in content["functions"]
    ]


def test_a_dump_without_times_or_with_damaged_ones_is_told(tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text("import torch\ntorch.compile(lambda x: x, backend='eager')(torch.ones(1))\n")
    assert depyf("run", "--no-html", "-o", "dump", "none.py", cwd=tmp_path).returncode == 0
    shown = depyf("show", "--compile-times", "dump", cwd=tmp_path)
    assert (shown.returncode, shown.stdout.strip()) == (0, "compile times were not measured: depyf run --compile-times")
    (tmp_path / "dump" / "compile_times.json").write_text('{"places": [{}]}', encoding="utf-8")
    shown = depyf("show", "--compile-times", "dump", cwd=tmp_path)
    assert shown.returncode == 1
    assert "compile_times.json is damaged" in shown.stderr
