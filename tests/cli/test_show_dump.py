"""`depyf show DUMP`: each view in the terminal, as JSON that keeps its schema, and as SARIF."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click", reason="the command line needs click")

from click.testing import CliRunner, Result  # noqa: E402

from benchmarks.index_parts import artefact, write_dump  # noqa: E402
from depyf.cli.commands import depyf  # noqa: E402
from depyf.views.html.process import processes  # noqa: E402
from tests.dump_of_toy import FILES, entry, function, index, toy_entry  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """\
import torch
# the kernel
cpp_fused_abs_0 = async_compile.cpp_pybinding(['const float*'], r'''
extern "C" void kernel() {}
''')


def call(args): ...
"""
REFUSED = {
    "kind": "recompile",
    "refused": [{"entry": "0/0", "clauses": [], "explained": ['size of L["a"]: expected (10,), got (9,)']}],
}
VIEWS = [
    [],
    *(["--findings"], ["--breaks"], ["--recompiles"], ["--costs"]),
    *(["--function", "toy"], ["--graph", "1"], ["--graph", "0/0"], ["--kernel", "cpp_fused_abs_0"]),
]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    first = toy_entry()
    first["artefacts"].append(artefact("kernel", "kernel", "__compiled_fn_1.kernel_0.py"))
    again = entry("0/1", trigger=REFUSED, seconds={"total": 2.5, "backend": 2.0, "inductor": 1.5})
    files = {**FILES, "__compiled_fn_1.kernel_0.py": KERNEL}
    write_dump(tmp_path / "dump", index([function("toy", [first, again])]), files)
    return tmp_path / "dump"


def run(dump: Path, *options: str) -> Result:
    return CliRunner().invoke(depyf, ["show", str(dump), *options], env={"COLUMNS": "100"})


def test_what_is_wrong_stands_above_all_compiles(dump: Path) -> None:
    shown = run(dump)
    assert shown.exit_code == 0
    assert "medium break-data-dependent-branch  toy.py:6 in toy\n" in shown.output
    head, _, table = shown.output.partition("compile   function")
    assert "`toy` was compiled again" in head
    assert "0/0       toy  toy.py:4   first call" in table
    assert "2.5 s" in table
    assert table.endswith("\nmore: --line FILE:LINE (its nodes and kernels), --costs, --recompiles, --breaks\n")


def test_breaks_and_recompiles_say_what_to_do(dump: Path) -> None:
    assert "toy.py:6  if b.sum() < 0:" in run(dump, "--breaks").output
    assert "hint: Use `torch.cond` to express dynamic control flow." in run(dump, "--breaks").output
    recompiles = run(dump, "--recompiles").output
    assert "0/0 refused: the size of `a` was (9,), not (10,)" in recompiles
    assert "fix: call `torch._dynamo.mark_dynamic(a, 0)` before the call at toy.py:20" in recompiles


def test_a_function_is_shown_with_its_source_code_and_guards(dump: Path) -> None:
    shown = run(dump, "--function", "toy").output
    assert "4 def toy(a, b):" in shown
    assert "9     raise AssertionError" in shown
    assert "lt, x = __compiled_fn_1(a, b)" in shown
    assert 'tensor(L["a"], size=(10,))' in shown
    assert "cpp_fused_abs_0" in shown


def test_graphs_and_kernels_are_shown_by_number_name_and_compile(dump: Path) -> None:
    for name in ("1", "__compiled_fn_1", "0/0"):
        assert "abs_1: " in run(dump, "--graph", name).output
    kernel = run(dump, "--kernel", "cpp_fused_abs_0").output
    assert "2 # the kernel" in kernel
    assert "def call" not in kernel


@pytest.mark.parametrize("options", VIEWS, ids=" ".join)
@pytest.mark.parametrize("width", ["24", "40", "60", "80", "200"])
def test_no_word_is_broken_in_a_terminal_of_any_width(dump: Path, options: list[str], width: str) -> None:
    """Each word of the widest output is a word of any other: a path can be copied."""
    index_file = dump / "index.json"
    long = "some/deep/folder/of/a/project/with/a/rather_long_name/toy.py"
    index_file.write_text(index_file.read_text().replace("toy.py", long), encoding="utf-8")
    wide, narrow = (
        CliRunner().invoke(depyf, ["show", str(dump), *options], env={"COLUMNS": columns}).output
        for columns in ("1000", width)
    )
    tables = "─"
    words = {word.strip(tables + ",") for word in wide.split()} - {""}
    narrow_words = {word.strip(tables + ",") for word in narrow.split()} - {""}
    assert narrow_words <= words | {"seconds", "calls", "ops", "guards", "breaks"}
    assert {word for word in words if "/" in word or "_" in word} <= narrow_words
    margins = [len(line) for line in narrow.splitlines() if len(line.split()) > 1 and "│" not in line]
    if options in ([], ["--findings"], ["--breaks"], ["--recompiles"], ["--costs"]):
        longest = max(len(word) for word in words)
        assert max(margins) <= max(int(width), 24 + 4, longest + 30)


@pytest.mark.parametrize("options", VIEWS, ids=" ".join)
def test_the_json_of_each_view_keeps_its_schema(dump: Path, options: list[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    content = json.loads(run(dump, *options, "--json").output)
    schema = json.loads((ROOT / "docs" / "show.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, schema)
    assert content["processes"][0]["items"]
    broken = {**content, "processes": [{**content["processes"][0], "items": [{}]}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)


def test_each_process_of_a_run_is_shown(dump: Path) -> None:
    write_dump(dump / "rank_1", index([function("toy", [toy_entry()])]), FILES)
    content = json.loads(run(dump, "--findings", "--json").output)
    assert [process["label"] for process in content["processes"]][1:] == ["rank 1"]
    assert run(dump, "--process", "rank 1", "--costs").exit_code == 0
    assert run(dump, "--process", "rank 7").exit_code == 2


def test_what_is_not_there_is_said(dump: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "nowhere").exit_code == 2
    missing = run(dump, "--function", "other")
    assert missing.exit_code == 2
    assert "there is no function 'other'" in missing.output
    assert "there is: toy" in missing.output
    assert run(dump, "--graph", "9").exit_code == run(dump, "--kernel", "x").exit_code == 2
    assert run(dump, "--graph", "1", "--breaks").exit_code == 2
    (dump / "index.json").write_text("{", encoding="utf-8")
    assert run(dump).exit_code == 1


def sarif(dump: Path) -> dict[str, Any]:
    sarif_log: dict[str, Any] = json.loads(run(dump, "--sarif").output)
    return sarif_log


def test_sarif_is_what_its_schema_says(dump: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(__file__).parent / "sarif.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(sarif_log := sarif(dump), schema)
    assert sarif_log["runs"][0]["results"]
    rules = sarif_log["runs"][0]["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in sarif_log["runs"][0]["results"])
    sarif_log["runs"][0]["results"][0]["level"] = "high"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(sarif_log, schema)


def test_findings_as_sarif_are_shown_at_their_lines(dump: Path) -> None:
    result = next(
        result for result in sarif(dump)["runs"][0]["results"] if result["ruleId"] == "break-data-dependent-branch"
    )
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "toy.py", "uriBaseId": "SRCROOT"}, "region": {"startLine": 6}}
    assert result["message"]["text"].startswith("Graph break: a branch depends on the values of a tensor. Fix: ")
    assert result["level"] == "warning"


def test_a_finding_is_the_same_in_sarif_after_lines_have_moved(dump: Path, tmp_path: Path) -> None:
    moved = toy_entry()
    moved["breaks"][0]["where"]["line"] = 60
    write_dump(tmp_path / "moved", index([function("toy", [moved])]), FILES)
    first, other = (
        next(
            result
            for result in sarif(directory)["runs"][0]["results"]
            if result["ruleId"] == "break-data-dependent-branch"
        )
        for directory in (dump, tmp_path / "moved")
    )
    assert first["partialFingerprints"] == other["partialFingerprints"]
    assert first["locations"] != other["locations"]


def test_in_a_terminal_it_is_as_wide_as_that_and_paged(dump: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    widest = {}
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    for columns in (60, 160):
        command = [sys.executable, "-m", "depyf", "show", dump.name, "--no-pager"]
        child = pexpect.spawn(
            *(command[0], command[1:]),
            cwd=dump.parent,
            env=environment,
            dimensions=(50, columns),
            encoding="utf-8",
            timeout=60,
        )
        child.expect(pexpect.EOF)
        assert "\x1b[" in child.before
        widest[columns] = max(len(pexpect_plain(line)) for line in child.before.split("\r\n"))
    assert 30 < widest[60] <= 60 < widest[160] <= 160


def pexpect_plain(line: str) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", line)


def test_a_recompile_has_the_sentence_and_the_fix_of_its_finding(dump: Path) -> None:
    content = json.loads(run(dump, "--findings", "--json").output)["processes"][0]["items"]
    finding = next(item for item in content if "was compiled again" in item["cause"])
    (row,) = json.loads(run(dump, "--recompiles", "--json").output)["processes"][0]["items"]
    assert row["finding"] == finding
    shown = " ".join(run(dump, "--recompiles").output.split())
    assert f"finding: {finding['cause']}" in shown
    (page,) = processes(dump, 0.0)[0].recompiled
    assert page.entries[1].fix(0) == finding["fix"]
    assert shown.count("fix: ") == shown.count(f"fix: {finding['fix']}") == 1


def test_an_expected_recompile_has_no_fix(tmp_path: Path) -> None:
    refused = [{"entry": "0/0", "clauses": [], "explained": ["grad_mode: expected True, got False"]}]
    again = entry("0/1", trigger={"kind": "recompile", "refused": refused})
    write_dump(tmp_path, index([function("toy", [toy_entry(), again])]), FILES)
    (row,) = json.loads(run(tmp_path, "--recompiles", "--json").output)["processes"][0]["items"]
    assert row["finding"]["severity"] == "low"
    assert [reason["advice"] for reason in row["nearest"]["reasons"]] == [""]
    assert "fix: " not in run(tmp_path, "--recompiles").output
    (page,) = processes(tmp_path, 0.0)[0].recompiled
    assert page.entries[1].fix(0) == "no change is needed"


def test_the_costs_end_with_the_seconds_of_each_phase(dump: Path) -> None:
    shown = " ".join(run(dump, "--costs").output.split())
    assert "2 compiles: 4.5 s in all Inductor 2.0 s, dynamo 1.0 s, AOTAutograd 1.0 s, code generation 500 ms" in shown
