"""The round trip: its comparison calls nothing equal that is not, and it runs over our decompiler."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from benchmarks import measure_roundtrip

FOLDER = measure_roundtrip.ROUNDTRIP.parent


def test_its_controls_hold() -> None:
    done = subprocess.run([sys.executable, "selftest.py", "3"], cwd=FOLDER, capture_output=True, text=True, check=True)
    controls = re.findall(r"^(\w+) +(?:not exact|survived) (\d+) of (\d+)$", done.stdout, re.MULTILINE)
    assert {name for name, _, _ in controls} == {"one", "many", "unparse", "closure", "mutant"}
    assert all(int(misses) == 0 < int(total) for _, misses, total in controls), done.stdout


def test_it_measures_our_decompiler(tmp_path: Path) -> None:
    module = tmp_path / "corpus" / "plain.py"
    module.parent.mkdir()
    module.write_text("def f(a):\n    return a + 1\n\ndef g(a, b):\n    x = f(a)\n    return x * b\n", encoding="utf-8")
    out = tmp_path / "out.jsonl"
    command = [sys.executable, str(measure_roundtrip.ROUNDTRIP), "run", "--adapter", "ours"]
    command += ["--corpus", str(module.parent), "--out", str(out)]
    environment = os.environ | {"OURS_PATH": str(measure_roundtrip.ROOT / "src")}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    objects = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [entry["status"] for entry in objects] == ["exact", "exact"]


def test_a_row_of_the_table_counts_what_broke() -> None:
    objects: list[dict[str, object]] = [
        {"status": "exact", "exact": True, "doc": True, "linear": True, "t": 0.001},
        {"status": "exact", "exact": True, "doc": False, "linear": False, "t": 0.001},
        {"status": "wrong", "exact": False, "doc": False, "linear": False, "t": 0.001},
        {"status": "timeout", "exact": False, "doc": False, "linear": False, "t": 5.0},
    ]
    row = measure_roundtrip.row(measure_roundtrip.Interpreter(11, "python3.11"), objects)
    assert row == "| 3.11 | 4 | 50.0 | 25.0 | 25.0 | 1 | 1 | 5.0 | 5000 |"


def test_the_running_python_is_among_those_at_hand() -> None:
    minors = [interpreter.minor for interpreter in measure_roundtrip.interpreters()]
    assert minors == sorted(set(minors))
    assert sys.version_info[1] in minors
