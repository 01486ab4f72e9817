"""`depyf run`: the program does what it does under `python`, and leaves a dump."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("click", reason="the command line needs click")

COMPILED = """
import os, sys
import torch

@torch.compile(backend="eager")
def f(x):
    y = x + 1
    if y.sum() > 0:
        return y * 2
    return y
"""
PLAIN = (
    COMPILED
    + """
print(f(torch.ones(3)).tolist(), sys.argv, __name__, os.path.basename(sys.path[0]), sys.stdin.read())
sys.exit(3)
"""
)
VALUES = "[4.0, 4.0, 4.0]"
"""The results of `f` for ones."""
OF_CHILD = "[-8.0, -8.0, -8.0, -8.0]"
CRASHES = (
    COMPILED
    + """
f(torch.ones(3))
raise ValueError("of the program")
"""
)
TRACEBACK = """Traceback (most recent call last):
  File "{}", line 13, in <module>
    raise ValueError("of the program")
ValueError: of the program
"""
KILLED = (
    COMPILED
    + """
import signal
print(f(torch.ones(3)).tolist(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
)
STARTS = (
    COMPILED
    + """
import multiprocessing

def work(number):
    print(f(torch.full((number,), -9.0)).tolist(), flush=True)

if __name__ == "__main__":
    print(f(torch.ones(3)).tolist(), flush=True)
    process = multiprocessing.get_context(sys.argv[1]).Process(target=work, args=(4,))
    process.start()
    process.join()
    sys.exit(process.exitcode)
"""
)
NO_TORCH = "print('nothing')\n"


def ran(command: list[str], folder: Path, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        input=text,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def captured_run(source: str, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program under `depyf run`, which writes to `out`. `test_run_programs.py` compares with `python`."""
    (folder / "program.py").write_text(source, encoding="utf-8")
    start = "from depyf.cli.entry import main; main()"
    command = [sys.executable, "-c", start, "run", "-o", "out", "program.py", *arguments]
    return ran(command, folder, "some input", **environment)


def index(folder: Path) -> dict[str, object]:
    content: dict[str, object] = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    return content


def without_torch_warnings(text: str) -> str:
    return text[text.index("Traceback") :] if "Traceback" in text else ""


def test_it_has_its_arguments_its_input_and_its_exit_code(tmp_path: Path) -> None:
    captured = captured_run(PLAIN, tmp_path, "--an", "option", "-m")
    printed = f"{VALUES} ['program.py', '--an', 'option', '-m'] __main__ {tmp_path.name} some input\n"
    assert (captured.stdout, captured.returncode) == (printed, 3), captured.stderr
    assert "depyf: 2 compiles of 1 function, " in captured.stderr
    assert "depyf: worth a look: 1 graph break" in captured.stderr
    assert "depyf: report in out/report/index.html; files in out/index.md\n" in captured.stderr
    assert len(index(tmp_path / "out")["order"]) == 2  # type: ignore[arg-type]
    assert (tmp_path / "out" / "full_code_for_f_0.py").exists()


def test_a_crash_has_the_traceback_that_it_has(tmp_path: Path) -> None:
    captured = captured_run(CRASHES, tmp_path)
    assert captured.returncode == 1
    lines = without_torch_warnings(captured.stderr)
    assert lines[: lines.index("depyf: ")] == TRACEBACK.format(tmp_path / "program.py")
    assert index(tmp_path / "out")["functions"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signal here ends a process at once")
def test_a_program_that_is_killed_leaves_what_was_seen(tmp_path: Path) -> None:
    captured = captured_run(KILLED, tmp_path)
    assert (captured.stdout, captured.returncode) == (f"{VALUES}\n", -signal.SIGKILL), captured.stderr
    assert "1 process ended before writing everything" in captured.stderr
    assert (tmp_path / "out" / "__transformed_code_0_for_f.py").exists()
    content = index(tmp_path / "out")
    assert content["functions"] and not content["ended"]


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes_that_it_starts_have_folders_of_their_own(tmp_path: Path, way: str) -> None:
    if way == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    captured = captured_run(STARTS, tmp_path, way)
    assert (captured.stdout, captured.returncode) == (f"{VALUES}\n{OF_CHILD}\n", 0), captured.stderr
    assert " in 2 processes, " in captured.stderr
    assert "depyf: report in out/report/index.html; files in out/index.md, and in process_1\n" in captured.stderr
    for folder in (tmp_path / "out", tmp_path / "out" / "process_1"):
        assert index(folder)["functions"], folder


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no distributed part")
def test_the_ranks_of_a_job_have_folders_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(COMPILED + "f(torch.ones(3))\n", encoding="utf-8")
    start = "from depyf.cli.entry import main; main()"
    job = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "program.py"]
    done = ran([sys.executable, "-c", start, "run", "-o", "out", *job], tmp_path)
    assert done.returncode == 0, done.stderr
    assert " in 2 processes, " in done.stderr
    for rank in (0, 1):
        assert index(tmp_path / "out" / f"rank_{rank}")["functions"]


def test_the_backend_can_be_another(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(COMPILED + "print(f(torch.ones(3)).tolist())\n", encoding="utf-8")
    start = "from depyf.cli.entry import main; main()"
    command = [sys.executable, "-c", start, "run", "-o", "out", "--backend", "aot_eager", "program.py"]
    done = ran(command, tmp_path)
    assert (done.returncode, done.stdout) == (0, "[4.0, 4.0, 4.0]\n"), done.stderr
    assert [path.name for path in (tmp_path / "out").glob("__compiled_fn_1.Forward_graph.*")]


def test_there_is_no_such_backend(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(COMPILED + "print(f(torch.ones(3)).tolist())\n", encoding="utf-8")
    start = "from depyf.cli.entry import main; main()"
    done = ran([sys.executable, "-c", start, "run", "-o", "out", "--backend", "nosuch", "program.py"], tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("depyf run: torch has no backend 'nosuch'; it has ")
    assert "Traceback" not in done.stderr


def test_a_program_without_torch_is_left_alone(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("print('the own sitecustomize')\n", encoding="utf-8")
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    source = NO_TORCH + "import sys; print(sys.path)"
    captured = captured_run(source, tmp_path, PYTHONPATH=path)
    plain = ran([sys.executable, "program.py"], tmp_path, PYTHONPATH=path)
    assert captured.stdout == plain.stdout.replace("the own sitecustomize\n", "the own sitecustomize\n" * 2, 1)
    assert "depyf: nothing was compiled" in captured.stderr


def test_there_is_no_such_script(tmp_path: Path) -> None:
    start = "from depyf.cli.entry import main; main()"
    done = ran([sys.executable, "-c", start, "run", "nowhere.py"], tmp_path)
    assert done.returncode == 2
    assert done.stderr == "depyf run: there is no script 'nowhere.py'\n"
    assert not (tmp_path / "depyf_output").exists()
