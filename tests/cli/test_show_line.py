"""`depyf show DUMP --line FILE:LINE`, and a kernel with the user's lines as comments."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest

pytest.importorskip("click", reason="the command line needs click")

from click.testing import CliRunner, Result  # noqa: E402

from benchmarks import index_parts  # noqa: E402
from benchmarks.index_parts import artefact, write_dump  # noqa: E402
from depyf.cli.commands import depyf  # noqa: E402
from depyf.cli.exit_codes import EXIT_DONE, EXIT_USAGE  # noqa: E402
from depyf.links import of_line  # noqa: E402
from depyf.links.documents import Document, documents  # noqa: E402
from depyf.links.of_line import kernel_parts  # noqa: E402
from depyf.links.origins import Links  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """\
import torch


@torch.compile
def toy(a):
    x = torch.abs(a)
    y = x * 2 + 1
    return x @ y
"""
CAPTURED = """\
class GraphModule(torch.nn.Module):
    def forward(self, L_a_: "f32[4, 4][4, 1]cpu"):
        l_a_ = L_a_

        # File: /home/me/models/toy.py:6 in toy, code: x = torch.abs(a)
        x: "f32[4, 4][4, 1]cpu" = torch.abs(l_a_);  l_a_ = None

        # File: /home/me/models/toy.py:7 in toy, code: y = x * 2 + 1
        mul: "f32[4, 4][4, 1]cpu" = x * 2
        y: "f32[4, 4][4, 1]cpu" = mul + 1;  mul = None

        # File: /home/me/models/toy.py:8 in toy, code: return x @ y
        matmul: "f32[4, 4][4, 1]cpu" = x @ y;  x = y = None
        return (matmul,)
"""
LOWERED = """\
class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "f32[4, 4][4, 1]cpu"):
        # File: /home/me/models/toy.py:6 in toy, code: x = torch.abs(a)
        abs_1: "f32[4, 4][4, 1]cpu" = torch.ops.aten.abs.default(arg0_1);  arg0_1 = None

        # File: /home/me/models/toy.py:7 in toy, code: y = x * 2 + 1
        mul: "f32[4, 4][4, 1]cpu" = torch.ops.aten.mul.Tensor(abs_1, 2)
        add: "f32[4, 4][4, 1]cpu" = torch.ops.aten.add.Tensor(mul, 1);  mul = None

        # File: /home/me/models/toy.py:8 in toy, code: return x @ y
        mm: "f32[4, 4][4, 1]cpu" = torch.ops.aten.mm.default(abs_1, add);  abs_1 = add = None
        return (mm,)
"""
KERNELS = """\
async_compile = AsyncCompile()


cpp_fused_abs_add_mul_0 = async_compile.cpp_pybinding(['const float*', 'float*', 'float*'], r'''
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0,
                       float* out_ptr1)
{
    {
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(16L); x0+=static_cast<int64_t>(1L))
        {
            {
                {
                    auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];
                    auto tmp1 = std::abs(tmp0);
                    auto tmp2 = static_cast<float>(2.0);
                    auto tmp3 = tmp1 * tmp2;
                    auto tmp4 = static_cast<float>(1.0);
                    auto tmp5 = tmp3 + tmp4;
                    out_ptr0[static_cast<int64_t>(x0)] = tmp1;
                    out_ptr1[static_cast<int64_t>(x0)] = tmp5;
                }
            }
        }
    }
}
''')


async_compile.wait(globals())
del async_compile

class Runner:
    def call(self, args):
        arg0_1, = args
        args.clear()
        assert_size_stride(arg0_1, (4, 4), (4, 1), 'input')
        buf0 = empty_strided_cpu((4, 4), (4, 1), torch.float32)
        buf1 = empty_strided_cpu((4, 4), (4, 1), torch.float32)
        # [Provenance debug handles] cpp_fused_abs_add_mul_0:1
        cpp_fused_abs_add_mul_0(arg0_1, buf0, buf1)
        del arg0_1
        buf2 = empty_strided_cpu((4, 4), (4, 1), torch.float32)
        # [Provenance debug handles] extern_kernels.mm:2
        extern_kernels.mm(buf0, buf1, out=buf2)
        return (buf2, )
"""
NAME = "cpp_fused_abs_add_mul_0"
MAPPINGS = json.dumps({"cppCodeToPost": {f"{NAME}:1": ["abs_1", "mul", "add"], "extern_kernels.mm:2": ["mm"]}})
STACKS = json.dumps({f"{NAME}:1": [], "extern_kernels.mm:2": []})
FILE = "models/toy.py"
KERNEL_FILE = "__compiled_fn_1.kernel_0.py"


def compiled(number: int) -> index_parts.Part:
    """Return compile 0/`number`, which reads lines 6 to 8."""
    stem = f"__compiled_fn_{number + 1}"
    return index_parts.entry(
        f"0/{number}",
        artefacts=[
            artefact("Captured_Graph", "graph", f"{stem}.Captured_Graph.0.py"),
            artefact("AFTER_POST_GRAD", "graph", f"{stem}.AFTER_POST_GRAD.0.py"),
            artefact("kernel", "kernel", f"{stem}.kernel_0.py", "inference"),
            artefact("inductor_provenance_tracking_node_mappings", "json", "other/mappings.json"),
            artefact("inductor_provenance_tracking_kernel_stack_traces", "json", "other/stacks.json"),
        ],
        lines=[
            {"function": "toy", "file": FILE, "line": 4, "lines": [6, 7, 8], "in_graphs": [6, 7, 8], "read": [6, 7, 8]}
        ],
        graphs_called=[stem],
    )


def written(directory: Path, count: int = 1) -> Path:
    """Write a dump in which a function was compiled `count` times to equal texts."""
    files = {f"source/{FILE}": SOURCE, "other/mappings.json": MAPPINGS, "other/stacks.json": STACKS}
    for number in range(1, count + 1):
        stem = f"__compiled_fn_{number}"
        files[f"{stem}.Captured_Graph.0.py"] = f"# Captured Graph of {stem}\n{CAPTURED}"
        files[f"{stem}.AFTER_POST_GRAD.0.py"] = f"# AFTER POST GRAD of {stem}\n{LOWERED}"
        files[f"{stem}.kernel_0.py"] = KERNELS
    functions = [index_parts.function("toy", FILE, 4, [compiled(number) for number in range(count)])]
    return write_dump(directory, index_parts.index(functions, [FILE]), files)


def show(dump: Path, *options: str, columns: str = "80") -> Result:
    return CliRunner().invoke(depyf, ["show", str(dump), *options], env={"COLUMNS": columns})


def test_a_line_leads_to_its_nodes_and_to_the_lines_of_its_kernel(tmp_path: Path) -> None:
    shown = show(written(tmp_path), "--line", "toy.py:7")
    assert shown.exit_code == EXIT_DONE
    assert shown.output.startswith("models/toy.py:7  y = x * 2 + 1\n  in toy; it runs in a graph")
    assert "compile 0/0 of toy  2.0 s, 3 calls\n" in shown.output
    assert "  10 mul = x * 2\n  11 y = mul + 1\n" in shown.output
    assert f"  kernel {NAME}  {KERNEL_FILE}:4\n" in shown.output
    rows = shown.output.partition(NAME)[2].splitlines()
    assert [row.split(maxsplit=1)[1] for row in rows if " tmp" in row or "= tmp" in row] == [
        "auto tmp2 = static_cast<float>(2.0);",
        "auto tmp3 = tmp1 * tmp2;",
        "auto tmp4 = static_cast<float>(1.0);",
        "auto tmp5 = tmp3 + tmp4;",
        "out_ptr1[static_cast<int64_t>(x0)] = tmp5;",
    ]
    assert "it also computes toy.py:6" in shown.output
    assert "extern_kernels" not in shown.output


def test_a_kernel_without_linked_rows_has_those_that_are_linked_to_no_line() -> None:
    """Inductor computes random numbers in a loop of its own, which no node of the graph has."""
    rows = KERNELS.splitlines()
    both = frozenset({(FILE, 6), (FILE, 7)})
    links = {number: both for number, row in enumerate(rows, start=1) if NAME in row or "{" in row}
    links |= {number: frozenset({(FILE, 7)}) for number, row in enumerate(rows, start=1) if "tmp3 =" in row}
    document = Document("kernel", "kernels", "cpp", True, KERNEL_FILE, KERNELS, Links(links, ""))
    (part,) = kernel_parts(document, (FILE, 6), has_backward=False)
    assert not part.is_linked
    assert [text.split(" = ")[0].split()[-1] for _, text in part.rows][:4] == ["tmp0", "tmp1", "tmp2", "tmp4"]
    (other,) = kernel_parts(document, (FILE, 7), has_backward=False)
    assert (other.is_linked, [text.strip() for _, text in other.rows]) == (True, ["auto tmp3 = tmp1 * tmp2;"])


def test_a_library_s_kernel_is_shown_by_its_call(tmp_path: Path) -> None:
    shown = show(written(tmp_path), "--line", "models/toy.py:8").output
    assert "kernel extern_kernels.mm" in shown
    assert "extern_kernels.mm(buf0, buf1, out=buf2)" in shown
    assert NAME not in shown


def test_equal_compiles_are_read_and_shown_once(tmp_path: Path) -> None:
    dump = written(tmp_path, 3)
    with mock.patch.object(of_line, "documents", wraps=documents) as reads:
        content = json.loads(show(dump, "--line", "toy.py:7", "--json").output)
    compiles = content["processes"][0]["items"][0]["compiles"]
    assert [entry["kernels"][0]["file"] for entry in compiles] == [f"__compiled_fn_{n}.kernel_0.py" for n in (1, 2, 3)]
    assert reads.call_count == 1
    shown = show(dump, "--line", "toy.py:7").output
    assert shown.count(f"kernel {NAME}") == 1
    assert "the same in compiles 0/1, 0/2: 4.0 s" in shown
    kernel = show(dump, "--kernel", NAME).output
    assert kernel.startswith(f"{NAME}  compiles 0/0, 0/1, 0/2 of toy")
    assert kernel.count("async_compile") == 1


def test_a_kernel_has_the_user_s_lines_as_comments(tmp_path: Path) -> None:
    kernel = show(written(tmp_path), "--kernel", NAME, columns="120").output
    assert "// models/toy.py:6  x = torch.abs(a)\n  14" in kernel
    assert "// models/toy.py:7  y = x * 2 + 1\n  16" in kernel
    assert "call(self" not in kernel


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("toy.py:2", "no compile read toy.py:2; compiled lines near it: 6, 7, 8"),
        ("other.py:7", "no compiled code is in 'other.py'; files with compiled code: models/toy.py"),
        ("ls/toy.py:7", "no compiled code is in 'ls/toy.py'"),
        ("toy.py", "not FILE:LINE: 'toy.py'"),
        ("toy.py:x", "not FILE:LINE: 'toy.py:x'"),
    ],
)
def test_a_line_without_a_compile_is_an_error_that_names_others(tmp_path: Path, place: str, says: str) -> None:
    shown = show(written(tmp_path), "--line", place)
    assert shown.exit_code == EXIT_USAGE
    assert says in shown.output


def test_the_json_keeps_its_schema(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "show.schema.json").read_text(encoding="utf-8"))
    dump = written(tmp_path)
    for options in (["--line", "toy.py:7"], ["--kernel", NAME]):
        content = json.loads(show(dump, *options, "--json").output)
        jsonschema.validate(content, schema)
        item = content["processes"][0]["items"][0]
        del item["compiles" if "--line" in options else "origins"]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(content, schema)


def test_measured_times_of_a_line_are_shown(tmp_path: Path) -> None:
    dump = written(tmp_path)
    place = {"caller": -1, "file": "/home/me/models/toy.py", "line": 4, "function": "toy", "lines": [7]}
    fused = {**place, "lines": [6, 7]}
    content = {
        "schema": 1,
        "places": [place, fused],
        "cells": [["0/0", 0, "tracing", 0.25], ["0/0", 1, "code generation", 0.5], ["0/0", 1, "depyf", 9.0]],
        "functions": [],
        "repeats": [],
        "unavailable": {},
        "measuring": {"readings": 1, "seconds": 0.0},
    }
    (dump / "compile_times.json").write_text(json.dumps(content), encoding="utf-8")
    line = {"file": "models/toy.py", "line": 7, "seconds": 0.002, "set": []}
    other = {"file": "models/toy.py", "line": 6}
    rows = [line, {**line, "seconds": 0.001, "set": [other, {**other, "line": 7}]}, {**line, "line": 8}]
    profile = {"step": {"seconds": 0.01, "steps": 3}, "lines": rows}
    (dump / "profile.json").write_text(json.dumps(profile), encoding="utf-8")
    shown = " ".join(show(dump, "--line", "toy.py:7").output.split())
    assert "compiling: 250 ms alone, and 500 ms together with other lines, of 9.8 s" in shown
    assert "in a step: 2 ms alone, and 1 ms together with other lines, of 10 ms" in shown
    assert "not measured" not in shown


def test_an_inlined_function_is_named_with_the_function_that_contains_it(tmp_path: Path) -> None:
    dump = written(tmp_path)
    index = json.loads((dump / "index.json").read_text(encoding="utf-8"))
    gate = {"function": "Block.gate", "file": FILE, "line": 18, "lines": [19, 20], "in_graphs": [19], "read": [19, 20]}
    index["functions"][0]["compiles"][0]["lines"].append(gate)
    (dump / "index.json").write_text(json.dumps(index), encoding="utf-8")
    for name in ("gate", "Block.gate"):
        shown = show(dump, "--function", name)
        assert shown.exit_code == EXIT_USAGE
        assert "Block.gate (models/toy.py:18) is inlined in toy; " in shown.output
        assert "see --function toy, or --line models/toy.py:19" in shown.output
    assert "there is: toy" in show(dump, "--function", "gates").output


def test_the_kernels_of_a_line_are_listed(tmp_path: Path) -> None:
    dump = written(tmp_path)
    listed = CliRunner().invoke(depyf, ["kernel", str(dump), "toy.py:7"])
    assert listed.output == f"{NAME}  compile 0/0 of toy, inference\n"
    nothing = CliRunner().invoke(depyf, ["kernel", str(dump), "toy.py:8"])
    assert nothing.exit_code == EXIT_USAGE
    assert "no kernel with a text of its own computes toy.py:8" in nothing.output
