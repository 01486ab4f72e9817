"""What is released works: the wheel in an empty environment, the version from one place, the workflows of the host."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import depyf

ROOT = Path(__file__).resolve().parents[1]
TRACE = ROOT / "tests" / "trace" / "data" / "small_2.13.log.gz"
PROGRAM = """
import torch

def double(x):
    return x * 2

torch.compile(double, backend="eager")(torch.ones(3))
"""


def _run(*command: object, cwd: Path, ok: bool = True) -> str:
    """Run a command that sees neither this checkout nor the packages of this environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DEPYF"))}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert not ok or done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("build") is None or importlib.util.find_spec("hatchling") is None:
        pytest.skip("building needs build and hatchling: pip install build hatchling")
    out = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", out, ROOT, cwd=ROOT)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the Python of an empty environment that holds the wheel alone."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False)
    paths = sysconfig.get_paths(scheme="venv", vars={"base": str(folder), "platbase": str(folder)})
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(paths["purelib"])
    yield Path(paths["scripts"]) / Path(sys.executable).name


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    assert wheel.name == f"depyf-{depyf.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"depyf", f"depyf-{depyf.__version__}.dist-info"}
    ours = {str(path.relative_to(ROOT / "src").as_posix()) for path in (ROOT / "src" / "depyf").rglob("*.*")}
    assert {name for name in ours if "__pycache__" not in name and (ROOT / "src" / name).is_file()} <= set(names)


def test_it_decompiles_where_there_is_nothing_else(installed: Path, tmp_path: Path) -> None:
    said = _run(
        installed,
        "-c",
        "import depyf; print(depyf.__file__, depyf.__version__, depyf.decompile(lambda a: a + 1))",
        cwd=tmp_path,
    )
    assert str(ROOT / "src") not in said and depyf.__version__ in said and "lambda a: a + 1" in said
    assert "click" in _run(installed, "-m", "depyf", "decompile", "calendar:isleap", cwd=tmp_path, ok=False)


def _with_packages_of_this_environment(installed: Path) -> list[str]:
    """Return the options under which the empty environment sees the packages of this one, behind its own."""
    here = sysconfig.get_paths()["purelib"]
    start = f"import sys; sys.path.append({here!r}); from depyf.cli.entry import main; main()"
    return [str(installed), "-c", start]


def test_its_command_line_decompiles_and_reports(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("click", reason="the command line needs click")
    command = _with_packages_of_this_environment(installed)
    assert "def isleap(year)" in _run(*command, "decompile", "calendar:isleap", cwd=tmp_path)
    _run(*command, "report", TRACE, "-o", tmp_path / "report", cwd=tmp_path)
    assert list((tmp_path / "report").rglob("*.html"))


def test_it_captures_a_program_of_torch(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="a program that compiles needs torch")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    here = sysconfig.get_paths()["purelib"]
    start = f"import sys; sys.path.append({here!r}); import depyf\n"
    start += "with depyf.prepare_debug('dump'):\n    exec(open('program.py').read())\n"
    (tmp_path / "start.py").write_text(start, encoding="utf-8")
    _run(installed, "start.py", cwd=tmp_path)
    assert (tmp_path / "dump" / "index.json").is_file()


def test_the_workflows_of_the_host_are_valid() -> None:
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("the check needs check-jsonschema")
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert workflows
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    _run(*checker, *workflows, cwd=ROOT)
    assert "'jobs' is a required property" in _run(*checker, ROOT / "pyproject.toml", cwd=ROOT, ok=False)


def test_workflows_name_actions_by_the_hash_of_their_commit() -> None:
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    lines = [line.strip() for path in workflows for line in path.read_text(encoding="utf-8").splitlines()]
    used = [line for line in lines if "uses:" in line]
    assert used
    assert [line for line in used if not re.fullmatch(r"- uses: [\w./-]+@[0-9a-f]{40} # v[\d.]+", line)] == []


def test_the_nightly_workflow_has_the_releases_of_the_support_matrix() -> None:
    workflow = (ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    nightly = set(re.findall(r'torch: "([\d.]+)", python: "([\d.]+)"', workflow))
    page = (ROOT / "docs" / "support-matrix.md").read_text(encoding="utf-8")
    assert nightly == set(re.findall(r"^\| ([\d.]+)\+\w+ \| (3\.\d+)", page, re.MULTILINE))


def test_the_conda_recipe_renders_and_agrees_with_the_project() -> None:
    builder = pytest.importorskip("rattler_build", reason="the recipe is rendered by py-rattler-build")
    (variant,) = builder.Stage0Recipe.from_file(str(ROOT / "conda" / "recipe.yaml")).render()
    recipe = variant.recipe.to_dict()
    assert recipe["package"] == {"name": "depyf", "version": depyf.__version__}
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = re.search(r"^cli = \[(.*)\]$", project, re.MULTILINE)
    lowest = re.search(r'^requires-python = "(.*)"$', project, re.MULTILINE)
    assert needed and lowest
    wanted = {word.strip(' "') for word in needed[1].split(",")} | {f"python{lowest[1]}"}
    assert {word.replace(" ", "") for word in recipe["requirements"]["run"] if isinstance(word, str)} == wanted
    with pytest.raises(Exception, match="name"):
        builder.Stage0Recipe.from_yaml("package:\n  version: 1.0\n")
