"""What a dump holds: files, index, story; with each backend, on the torch that is installed."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from benchmarks.same_dump import differences  # noqa: E402
from depyf.torch.adapters import lacking, seams  # noqa: E402
from depyf.trace import directory  # noqa: E402
from tests.torch import programs  # noqa: E402
from tests.torch.needs import needs  # noqa: E402

traced = needs(lacking.structured_trace())

# Before 2.3 the name of a resume function has no line.
RESUME = seams.RESUME_PREFIX + ("branching_at_11" if seams.RESUME_PREFIX.startswith("torch_") else "branching")

BACKENDS = ("eager", "aot_eager", "inductor")


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


def names(directory: Path) -> list[str]:
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())


def index(directory: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((directory / "index.json").read_text(encoding="utf-8"))
    return content


def artefacts(content: dict[str, Any]) -> list[dict[str, Any]]:
    functions = [function for root in content["functions"] for function in (root, *root["resume_functions"])]
    return [
        artefact for function in functions for compiled in function["compiles"] for artefact in compiled["artefacts"]
    ]


def without_numbers(file_names: list[str]) -> set[str]:
    return {re.sub(r"__compiled_fn_\d+", "__compiled_fn_K", name) for name in file_names}


def run_branching(backend: str, directory: Path, *, gradient: bool = False) -> None:
    with depyf.prepare_debug(directory):
        compiled = torch.compile(programs.branching, backend=backend)
        for size in (10, 10, 8):
            for sign in (1, -1):
                a = torch.randn(size, requires_grad=gradient)
                result = compiled(a, sign * torch.rand(size))
                if gradient:
                    result.sum().backward()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("gradient", [False, True], ids=["inference", "training"])
def test_every_python_file_is_python(backend: str, gradient: bool, tmp_path: Path) -> None:
    run_branching(backend, tmp_path, gradient=gradient)
    files = list(tmp_path.rglob("*.py"))
    assert len(files) > 8
    for path in files:
        compile(path.read_text(encoding="utf-8"), path.name, "exec")
    assert not (tmp_path / "depyf_problems.txt").exists()


def test_the_files_of_eager(tmp_path: Path) -> None:
    run_branching("eager", tmp_path)
    resume = RESUME
    assert without_numbers(names(tmp_path)) == {
        "__compiled_fn_K.Captured_Graph.0.py",
        "__transformed_code_0_for_branching.py",
        "__transformed_code_1_for_branching.py",
        f"__transformed_code_0_for_{resume}.py",
        f"__transformed_code_1_for_{resume}.py",
        f"__transformed_code_2_for_{resume}.py",
        f"__transformed_code_3_for_{resume}.py",
        "full_code_for_branching_0.py",
        "index.json",
        "index.md",
        "source/programs.py",
        # A finding says where the function is called that compiles once more, if the trace tells.
        *(["source/test_dump.py"] if lacking.structured_trace() is None else []),
    }


@traced
def test_the_graphs_of_a_training_with_inductor(tmp_path: Path) -> None:
    # What Inductor takes from its cache does not come through its passes.
    with torch._inductor.config.patch(force_disable_caches=True):
        run_branching("inductor", tmp_path, gradient=True)
    compiled = index(tmp_path)["functions"][0]["compiles"][0]
    stages = [artefact["stage"] for artefact in compiled["artefacts"]]
    for stage in ("Captured_Graph", "Joint_graph", "Forward_graph", "Backward_graph", "AFTER_POST_GRAD"):
        assert stage in stages
    # The backward is compiled later, on the first call of backward(), and is still one of this compile.
    assert [artefact["file"] for artefact in compiled["artefacts"] if artefact["stage"] == "kernel"] == [
        f"{compiled['graphs_called'][0]}.kernel_0.py",
        f"{compiled['graphs_called'][0]}.kernel_1.py",
    ]
    assert "kernel 1 (backward)" in (tmp_path / "index.md").read_text(encoding="utf-8")


def test_a_graph_file_runs(tmp_path: Path) -> None:
    run_branching("eager", tmp_path)
    first = index(tmp_path)["functions"][0]["compiles"][0]
    spec = importlib.util.spec_from_file_location("graph", tmp_path / first["artefacts"][0]["file"])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    a, b = torch.randn(10), torch.rand(10)
    results = module.GraphModule()(a, b)
    expected = a / (a.abs() + 1)
    assert any(torch.equal(result, expected) for result in results)


@traced
def test_the_story(tmp_path: Path) -> None:
    run_branching("eager", tmp_path)
    compiled = index(tmp_path)
    (root,) = compiled["functions"]
    first, second = root["compiles"]
    assert first["trigger"] == {"kind": "first call"}
    assert second["trigger"]["kind"] == "recompile"
    if lacking.refusals() is None:
        (refused,) = second["trigger"]["entries"]
        assert refused["entry"] == first["id"]
        (clause,) = refused["clauses"]
        assert re.match(r"tensor '(a|L\['a'\])' size mismatch at index 0. expected 10, actual 8", clause)
    assert [resume["resumes_at"] for resume in root["resume_functions"]] == [13, 12]
    assert [resume["broke_at"] for resume in root["resume_functions"]] == [11, 11]
    for resume in root["resume_functions"]:
        assert resume["compiles"][0]["trigger"]["kind"] == "resume"
        assert resume["compiles"][0]["trigger"]["caller"] == first["id"]
    (found_break,) = first["breaks"]
    assert found_break["code"] in ("GB0170", "")  # Torch before 2.8 has no codes.
    assert found_break["where"]["text"] == "if b.sum() < 0:"
    assert first["seconds"]["total"] > 0
    assert first["op_count"] > 0
    assert {guard["kind"] for guard in first["guards"]} >= {"TENSOR_MATCH"}


def test_the_resume_function_beside_the_users_source(tmp_path: Path) -> None:
    run_branching("eager", tmp_path)
    text = (tmp_path / f"__transformed_code_1_for_{RESUME}.py").read_text("utf-8")
    assert "from line 12 on, with a, b, x as they were" in text or "from line 12 on, with b, x as they were" in text
    assert re.search(r"#      11       if b.sum\(\) < 0: +\(already decided: true\)", text)
    assert re.search(r"#  >   12           b = b \* -1", text)


def test_every_link_of_the_index_leads_to_a_file(tmp_path: Path) -> None:
    run_branching("inductor", tmp_path, gradient=True)
    links = re.findall(r"\]\(([^)]+)\)", (tmp_path / "index.md").read_text(encoding="utf-8"))
    assert len(links) > 20
    assert [link for link in links if not (tmp_path / link).is_file()] == []


def test_bytecode_is_written_when_asked_for(tmp_path: Path) -> None:
    with depyf.prepare_debug(str(tmp_path), log_bytecode=True):
        torch.compile(programs.straight, backend="eager")(torch.ones(3))
    stem = "__transformed_code_0_for_straight"
    for kind in ("original_bytecode", "transformed_bytecode", "decompiled_and_compiled_back_bytecode"):
        assert (tmp_path / f"{stem}.{kind}").read_text(encoding="utf-8").strip()
    assert "LOAD_GLOBAL" in (tmp_path / f"{stem}.transformed_bytecode").read_text(encoding="utf-8")


def test_nothing_compiled_says_why(tmp_path: Path) -> None:
    compiled = torch.compile(programs.straight, backend="eager")
    compiled(torch.ones(3))
    with depyf.prepare_debug(tmp_path):
        compiled(torch.ones(3))
    assert "The function was compiled before" in (tmp_path / "index.md").read_text(encoding="utf-8")


@traced
def test_a_backend_that_fails_leaves_its_graph(tmp_path: Path) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("this backend is broken")

    with depyf.prepare_debug(tmp_path), pytest.raises(Exception, match="this backend is broken"):
        torch.compile(programs.straight, backend=broken)(torch.ones(3))
    assert list(tmp_path.glob("__compiled_fn_*.Captured_Graph.0.py"))
    (compiled,) = index(tmp_path)["functions"][0]["compiles"]
    assert "this backend is broken" in compiled["failure"]["reason"]


@traced
def test_a_frame_that_dynamo_gives_up_is_told(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path):
        result = torch.compile(programs.breaking_in_a_loop, backend="eager")(torch.ones(3))
    assert torch.equal(result, torch.full((3,), 4.0))
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    if index(tmp_path)["functions"][0]["compiles"][0]["failure"] is not None:
        assert "breaking_in_a_loop, " in text.split("Frames that Dynamo gave up")[1]


def test_a_restarted_attempt_leaves_only_what_runs(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path):
        torch.compile(programs.breaking_in_a_callee, backend="eager")(torch.ones(3))
    compiled = index(tmp_path)
    assert compiled["functions"][0]["compiles"][0]["attempts"] == 2
    listed = {artefact["file"] for artefact in artefacts(compiled)}
    assert {path.name for path in tmp_path.glob("*.Captured_Graph.*")} == {
        file for file in listed if "Captured_Graph" in file
    }


def test_two_processes_dump_the_same(tmp_path: Path) -> None:
    program = (
        "import sys, torch, depyf; from tests.torch.test_dump import run_branching; from pathlib import Path;"
        "torch.manual_seed(0); run_branching('aot_eager', Path(sys.argv[1]), gradient=True)"
    )
    root = Path(__file__).resolve().parents[2]
    for seed, name in enumerate(("one", "other")):
        environment = os.environ | {"PYTHONHASHSEED": str(seed)}
        subprocess.run([sys.executable, "-c", program, str(tmp_path / name)], cwd=root, check=True, env=environment)
    assert names(tmp_path / "one") == names(tmp_path / "other")
    assert differences(tmp_path / "one", tmp_path / "other") == ([], len(names(tmp_path / "one")))


def test_no_name_and_no_text_holds_a_random_part(tmp_path: Path) -> None:
    run_branching("eager", tmp_path)
    random = re.compile(r"[0-9a-f]{8}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{12}|0x[0-9a-f]{6,}")
    for name in names(tmp_path):
        assert not random.search(name)
        assert not random.search((tmp_path / name).read_text(encoding="utf-8")), name


def test_transformed_code_has_one_function_of_that_name(tmp_path: Path) -> None:
    run_branching("eager", tmp_path)
    for path in tmp_path.glob("__transformed_code_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        function_names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert path.name.split("_for_", 1)[1].removesuffix(".py") in function_names


@traced
def test_each_file_of_a_recompile_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code waits for the guards, which say why it was made; a file costs more than what stands in it."""
    written: list[str] = []
    write = directory.Dump.write

    def counted(dump: directory.Dump, name: str, text: str) -> bool:
        written.append(name)
        return write(dump, name, text)

    monkeypatch.setattr(directory.Dump, "write", counted)
    compiled = torch.compile(lambda x, n: x + n, backend="eager", dynamic=False)
    with depyf.prepare_debug(tmp_path):
        for number in (1, 2, 3):
            compiled(torch.ones(3), number)
            assert (tmp_path / f"__transformed_code_{number - 1}_for_lambda.py").exists()
    assert len(written) == len(set(written))
    text = (tmp_path / "__transformed_code_2_for_lambda.py").read_text(encoding="utf-8")
    assert "recompile, 0/1: the number `n` (an argument) was 3, not 2" in text
