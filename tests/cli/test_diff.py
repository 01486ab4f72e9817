"""`depyf diff`: what changed between two dumps, and what is no change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click", reason="the command line needs click")

from click.testing import CliRunner, Result  # noqa: E402

from benchmarks.index_parts import artefact  # noqa: E402
from depyf.cli.commands import depyf  # noqa: E402
from tests.dump_of_toy import FILES, entry, function, index, toy_entry, write_dump, write_toy  # noqa: E402

GRAPH = "__compiled_fn_1.Captured_Graph.0.py"


def run(tmp_path: Path, *options: str) -> Result:
    return CliRunner().invoke(depyf, ["diff", *options, str(tmp_path / "old"), str(tmp_path / "new")])


def write(folder: Path, compiles: list[dict[str, Any]], files: dict[str, str] = FILES) -> None:
    write_dump(folder, index([function("toy", compiles)]), files)


def test_two_dumps_of_one_program_are_the_same_but_for_times_places_and_counters(tmp_path: Path) -> None:
    write_toy(tmp_path / "old")
    moved = {name: text.replace("/home/me/toy.py:5", "/elsewhere/toy.py:9") for name, text in FILES.items()}
    moved[GRAPH] = "# Captured Graph of __compiled_fn_7 in toy\n" + moved[GRAPH]
    write(tmp_path / "new", [toy_entry() | {"seconds": {"total": 99.0}, "began": 9.0}], moved)
    result = run(tmp_path)
    assert (result.exit_code, result.output) == (0, "nothing changed\n")


def test_a_graph_that_changed_is_told_by_its_lines(tmp_path: Path) -> None:
    write_toy(tmp_path / "old")
    write(tmp_path / "new", [toy_entry()], {**FILES, GRAPH: FILES[GRAPH].replace("= torch.abs", "= torch.neg")})
    result = run(tmp_path)
    assert result.exit_code == 3
    assert "toy, toy.py:4, compile 0/0\n  graphs: Captured_Graph: 1 line gone, 1 new\n" in result.output
    assert '    -        abs_1: "f32[10]" = torch.abs(L_a_)\n    +        abs_1: "f32[10]" = torch.neg' in result.output
    assert run(tmp_path, "--of", "breaks").exit_code == 0
    assert run(tmp_path, "-q").output == ""


def test_a_place_of_torch_s_cache_is_no_change_of_a_kernel(tmp_path: Path) -> None:
    name = "__compiled_fn_1.Kernel_0.0.py"
    text = """# kernel path: /tmp/torchinductor_me/{place}/c{place}5k3.py
# Topologically Sorted Source Nodes: [sin], Original ATen: [aten.sin]
kernel = async_compile.cpp_pybinding(['float*'], r'''
#include "/tmp/torchinductor_me/{place}/c{place}2m.h"
    out_ptr0[0] = {value};
''')
"""
    entry_with_kernel = toy_entry()
    entry_with_kernel["artefacts"] = [*entry_with_kernel["artefacts"], artefact("Kernel_0", "kernel", name)]

    def dump(folder: str, place: str, value: str) -> None:
        write(tmp_path / folder, [entry_with_kernel], {**FILES, name: text.format(place=place, value=value)})

    dump("old", "ab", "1")
    dump("new", "xy", "1")
    assert run(tmp_path, "--of", "kernels").output == "nothing changed\n"
    dump("new", "xy", "2")
    output = run(tmp_path, "--of", "kernels").output
    assert "    -    out_ptr0[0] = 1;\n    +    out_ptr0[0] = 2;\n1 changes" in output.replace("\n\n", "\n"), output


def test_a_break_that_went_and_a_guard_that_changed(tmp_path: Path) -> None:
    write_toy(tmp_path / "old")
    changed = toy_entry() | {"breaks": []}
    changed["guards"][0]["clause"] = 'tensor(L["a"], size=(8,))'
    write(tmp_path / "new", [changed])
    text = run(tmp_path).output
    assert "  breaks: 1 gone, 0 new\n    - Data-dependent branching at if b.sum() < 0:\n" in text
    assert '    - tensor(L["a"], size=(10,))\n    + tensor(L["a"], size=(8,))\n' in text
    assert text.endswith("2 changes: 1 of breaks, 1 of guards\n")


def test_a_recompile_that_is_new(tmp_path: Path) -> None:
    write_toy(tmp_path / "old")
    refused = {"kind": "recompile", "refused": [{"entry": "0/0", "clauses": ["size mismatch"], "explained": []}]}
    write(tmp_path / "new", [toy_entry(), entry("0/1", trigger=refused)])
    assert "  recompiles: new: a recompile\n    size mismatch\n" in run(tmp_path, "--of", "recompiles").output


def test_lines_that_moved_are_no_change(tmp_path: Path) -> None:
    guard_text = 'size of L["x"]: expected (4,), got (5,)  (:{} return x.relu())'
    resumed = "        # File: /home/me/toy.py:7 in torch_dynamo_resume_in_toy_at_{}, code: return x\n"
    for name, line in (("old", "35"), ("new", "37")):
        refused = {
            "kind": "recompile",
            "refused": [{"entry": "0/0", "clauses": [], "explained": [guard_text.format(line)]}],
        }
        files = {**FILES, GRAPH: FILES[GRAPH] + resumed.format(line)}
        write(tmp_path / name, [toy_entry(), entry("0/1", trigger=refused)], files)
    assert run(tmp_path).output == "nothing changed\n"


def test_a_function_and_a_process_that_are_in_one_run_alone(tmp_path: Path) -> None:
    write_toy(tmp_path / "old")
    write_toy(tmp_path / "old" / "rank_1")
    write_dump(tmp_path / "new", index([function("other", [entry("0/0")])]), FILES)
    text = run(tmp_path, "--of", "functions").output
    assert "toy, toy.py:4, compile 0/0\n  functions: no more" in text
    assert "other, toy.py:4, compile 0/0\n  functions: new" in text
    assert "rank 1: rank 1\n  functions: no more: this process" in text


def test_a_function_whose_file_was_moved_is_the_same(tmp_path: Path) -> None:
    write(tmp_path / "old", [toy_entry()])
    moved = function("toy", [toy_entry()]) | {"file": "other/place.py"}
    files = {name: text.replace("/home/me/toy.py:5", "/other/place.py:9") for name, text in FILES.items()}
    write_dump(tmp_path / "new", index([moved]), files)
    assert run(tmp_path).output == "nothing changed\n"
    write_dump(tmp_path / "new", index([moved, function("toy", [toy_entry()])]), files)
    assert "toy, other/place.py:4, compile 0/0\n  functions: new" in run(tmp_path).output


def test_there_is_no_dump_or_a_broken_one(tmp_path: Path) -> None:
    write_toy(tmp_path / "old")
    assert run(tmp_path).exit_code == 2
    write_dump(tmp_path / "new", {}, {})
    broken = run(tmp_path)
    assert broken.exit_code == 1
    index = tmp_path / "new" / "index.json"
    assert broken.output == f"depyf diff: {index} is no index of depyf's: it has no 'outside'\n"
    (tmp_path / "new" / "index.json").write_text('{"torch": ', encoding="utf-8")
    damaged = run(tmp_path)
    assert damaged.exit_code == 1
    assert damaged.output.startswith(f"depyf diff: {tmp_path / 'new' / 'index.json'} is damaged: ")


def test_changes_as_a_comment_for_a_pull_request(tmp_path: Path) -> None:
    write_toy(tmp_path / "old")
    fenced = FILES[GRAPH].replace("= torch.abs", "= torch.neg").replace("code: x", "code: ```x <b>")
    broken = toy_entry()["breaks"][0] | {"reason": "Data-dependent <script> @everyone"}
    write(tmp_path / "new", [toy_entry() | {"breaks": [broken]}], {**FILES, GRAPH: fenced})
    result = run(tmp_path, "--markdown")
    assert result.exit_code == 3
    assert result.output.startswith("### depyf: 2 changes in what torch compiles\n\n**New findings**\n\n- ")
    assert "**graph-break** `toy.py:6`: Graph break: Data-dependent &lt;script&gt; &#64;everyone." in result.output
    assert "**No more**" in result.output
    assert "<details><summary><code>toy, toy.py:4, compile 0/0</code> graphs: Captured_Graph: " in result.output
    assert "\n````diff\n" in result.output
    assert '-        abs_1: "f32[10]" = torch.abs(L_a_)' in result.output
    write_toy(tmp_path / "new")
    assert run(tmp_path, "--markdown").output.endswith("Nothing changed.\n")


def test_a_comment_is_no_longer_than_a_code_host_takes(tmp_path: Path) -> None:
    refused = {"kind": "recompile", "refused": [{"entry": "0/0", "clauses": ["x" * 900] * 40, "explained": []}]}
    write(tmp_path / "old", [toy_entry()])
    write(tmp_path / "new", [toy_entry(), *(entry(f"0/{n}", trigger=refused) for n in range(1, 6))])
    text = run(tmp_path, "--markdown").output
    assert len(text) < 65536
    assert "more changes: `depyf diff` shows them." in text


def test_why_the_caches_of_a_run_found_nothing(tmp_path: Path) -> None:
    event = {"cache": "fx_graph", "outcome": "miss", "reason": "", "seconds_saved": 0.0, "file": "other/key.json"}
    for name, value in (("old", "False"), ("new", "True")):
        digest = "a" * 30 if name == "old" else "b" * 30
        record = {"key": name, "components": [f"[{digest}] inductor_config[max_autotune]: {value}"]}
        files = {**FILES, "other/key.json": json.dumps(record)}
        write(tmp_path / name, [toy_entry() | {"caches": [event | {"key": name}]}], files)
    assert run(tmp_path).output == "nothing changed\n"
    result = run(tmp_path, "--of", "caches")
    assert result.exit_code == 3
    assert "config: `max_autotune` (`TORCHINDUCTOR_MAX_AUTOTUNE`): False became True" in result.output
    assert "against compile 0/0 of the old run" in result.output
    assert result.output.endswith("1 changes: 1 of caches\n")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--fail-on", "high"), 0),
        (("--fail-on", "medium"), 3),
        (("--fail-on", "low"), 3),
        (("--fail-on", "medium", "--allow", "1"), 0),
    ],
)
def test_new_findings_decide_the_exit_code(tmp_path: Path, options: tuple[str, ...], code: int) -> None:
    write_toy(tmp_path / "old")
    where = {"file": "toy.py", "line": 3, "function": "toy", "text": "print(x)"}
    broken = {
        "reason": "Failed to trace builtin operator",
        "explanation": "",
        "hints": [],
        "code": "GB0059",
        "where": where,
        "stack": [],
        "attempt": 0,
    }
    write(tmp_path / "new", [toy_entry() | {"breaks": [broken]}])
    result = run(tmp_path, *options)
    assert result.exit_code == code, result.output
    assert ("new: medium: Graph break" in result.stderr) == (code == 3)
    other = CliRunner().invoke(depyf, ["diff", *options, str(tmp_path / "new"), str(tmp_path / "new")])
    assert (other.exit_code, other.output) == (0, "nothing changed\n")
