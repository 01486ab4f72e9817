"""One row a field: in a copy of the project a field is added in one file, and index, log, reader and schema have it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from depyf.model.bypass import BYPASSED_ROWS, Bypass, Way
from depyf.model.user_line import UserLine
from scripts.index_schema import FILE, text

ROOT = Path(__file__).resolve().parents[2]
ATTRIBUTE = '    backend: str = ""\n'
ROW = '    Row("backend", TEXT,'
USES = """
import json
from pathlib import Path

from depyf.model.index_json import index_json
from depyf.model.index_reader import session_of
from depyf.model.run import Compile, CompileId, Function, Session
from depyf.model.running_log import RunningLog, read_log

compiled = Compile(CompileId(0, 0), "f", "f.py", 1, color="red")
run = Session("2.13.0", "3.11", functions={"0": Function("0", "f", "f.py", 1, "", "0", compiles=[compiled])})
log = RunningLog(Path("."), run)
print(read_log(Path("."))["functions"][0]["compiles"][0]["color"])
compiled.color = "green"
log.changed(run.functions["0"], compiled)
print(read_log(Path("."))["functions"][0]["compiles"][0]["color"])
index = json.loads(index_json(run, ()))
print(index["functions"][0]["compiles"][0]["color"])
print(session_of(index).functions["0"].compiles[0].color)
"""


def test_a_field_is_added_in_one_file(tmp_path: Path) -> None:
    for name in ("src", "scripts", "benchmarks", "corpus"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "docs").mkdir()
    model = tmp_path / "src/depyf/model/run.py"
    source = model.read_text(encoding="utf-8")
    assert source.count(ATTRIBUTE) == source.count(ROW) == 1
    source = source.replace(ATTRIBUTE, f'{ATTRIBUTE}    color: str = ""\n')
    model.write_text(source.replace(ROW, f'    Row("color", TEXT),\n{ROW}'), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}{os.pathsep}{tmp_path}"}
    for command in (("-c", USES), ("-m", "scripts.index_schema")):
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        if command[0] == "-c":
            assert done.stdout.split() == ["red", "green", "green", "green"]
    schema = json.loads((tmp_path / "docs" / "index.schema.json").read_text(encoding="utf-8"))
    assert schema["$defs"]["compile"]["properties"]["color"] == {"type": "string"}


def test_the_schema_is_that_of_the_rows() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run `python -m scripts.index_schema`"


def test_a_pair_of_a_dict_keeps_both_parts() -> None:
    line = UserLine("train.py", 7, "model.generate()", "main")
    bypass = Bypass(Way.METHOD, "model.generate()", "the module's parameters", line, "Model")
    written = BYPASSED_ROWS.write((bypass, 3))
    assert (written["what"], written["times"]) == ("model.generate()", 3)
    assert BYPASSED_ROWS.read(written) == (bypass, 3)
