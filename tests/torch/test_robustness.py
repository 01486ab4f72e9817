"""What goes wrong around a dump leaves the program's results alone and what was written whole."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.model.writer import DumpDirectoryError  # noqa: E402
from depyf.torch.capture.active import ACTIVE  # noqa: E402
from tests.torch import programs  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
SECONDS = 400
"""Longer than any run takes on a busy machine; only what hangs takes as long."""

PROGRAM = """
import os, signal, sys, torch, depyf
from tests.torch import programs

directory, dies_at = sys.argv[1], int(sys.argv[2])
written, replace = [], os.replace

def replace_or_die(source, target):
    written.append(target)
    if len(written) == dies_at:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)

os.replace = replace_or_die
x = torch.ones(3)
with depyf.prepare_debug(directory):
    for program in (programs.straight, programs.breaking_once, programs.other_program):
        assert torch.equal(torch.compile(program, backend="eager")(x), program(x))
print("ran")
"""


def _start(directory: Path, dies_at: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(directory), str(dies_at)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _whole_files(directory: Path) -> list[str]:
    """Return the names of the files that a reader of a dump sees; each of them must be whole."""
    files = [path for path in directory.rglob("*") if path.is_file() and not path.name.startswith(".")]
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert text.endswith("\n")
        if path.suffix == ".py":
            compile(text, path.name, "exec")
        elif path.suffix == ".json":
            json.loads(text)
    return sorted(path.name for path in files)


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


MEETING = """
import pathlib, sys, time, torch, depyf
from tests.torch import programs

directory, own, other = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]

def met(sign):
    (directory.parent / f"{own}-{sign}").touch()
    began = time.monotonic()
    while not (directory.parent / f"{other}-{sign}").exists():
        assert time.monotonic() < began + 300, "the other process does not come"
        time.sleep(0.01)

for program in (programs.straight, programs.breaking_once):
    with depyf.prepare_debug(directory):
        met(f"entered {program.__name__}")
        if own == "b":
            torch.compile(lambda x: x * 5, backend="eager")(torch.ones(3))
        assert torch.equal(torch.compile(program, backend="eager")(torch.ones(3)), program(torch.ones(3)))
print("ran")
"""


def test_two_processes_in_one_directory(tmp_path: Path) -> None:
    directory = tmp_path / "dump"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", MEETING, str(directory), *names], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for names in ("ab", "ba")
    ]
    assert [process.communicate(timeout=SECONDS)[0] for process in both] == ["ran\n", "ran\n"]
    _whole_files(directory)
    assert not list(directory.rglob(".*")), "temporary files are gone"
    written = {}
    for folder in (directory, directory / "process_2"):
        content = json.loads((folder / "index.json").read_text("utf-8"))
        named = {f"full_code_for_{function['name'].strip('<>')}_0.py" for function in content["functions"]}
        assert {path.name for path in folder.glob("full_code_for_*.py")} == named, "each process tells of its own files"
        assert {function["name"] for function in content["functions"]} >= {"straight", "breaking_once"}
        page = (folder / "index.md").read_text("utf-8")
        assert "processes.md" in page
        written[folder.name] = len(content["order"])
    assert sorted(written.values()) == [3, 4]
    table = (directory / "processes.md").read_text("utf-8")
    assert f"| [1](index.md) | {written['dump']} | " in table
    assert f"| [2](process_2/index.md) | {written['process_2']} | " in table
    assert "compiles of <lambda>" in table.split("## Where processes differ")[1]


def test_a_process_after_another_overwrites_its_files(tmp_path: Path) -> None:
    for _ in range(2):
        assert _start(tmp_path).communicate(timeout=SECONDS)[0] == "ran\n"
    assert not list(tmp_path.glob("process*"))
    assert len(json.loads((tmp_path / "index.json").read_text("utf-8"))["order"]) == 4


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_context_in_a_forked_child_has_a_folder_of_its_own(tmp_path: Path) -> None:
    def work() -> bool:
        with depyf.prepare_debug(tmp_path):
            return _compiles_in_child()

    with depyf.prepare_debug(tmp_path):
        torch.compile(programs.straight, backend="eager")(torch.ones(3))
        assert _in_a_child(work) == 0
    assert "full_code_for_other_program_0.py" in _whole_files(tmp_path / "process_2")
    assert not list(tmp_path.glob("*other_program*"))
    assert "processes.md" in (tmp_path / "index.md").read_text("utf-8")


def test_a_directory_that_was_removed_is_claimed_anew(tmp_path: Path) -> None:
    for _ in range(2):
        torch._dynamo.reset()
        with depyf.prepare_debug(tmp_path / "dump"):
            torch.compile(programs.straight, backend="eager")(torch.ones(3))
        assert "index.json" in _whole_files(tmp_path / "dump")
        shutil.rmtree(tmp_path / "dump")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill a process so")
def test_a_killed_process_leaves_whole_files_and_a_directory_that_can_be_used(tmp_path: Path) -> None:
    # One file is the probe of the directory; the process dies while it writes the third of the dump.
    killed = _start(tmp_path, dies_at=4)
    assert killed.communicate(timeout=SECONDS)[0] == ""
    assert killed.returncode == -signal.SIGKILL
    assert len(_whole_files(tmp_path)) == 2
    again = _start(tmp_path)
    assert again.communicate(timeout=SECONDS)[0] == "ran\n"
    assert "index.json" in _whole_files(tmp_path)


def test_a_directory_that_turns_unwritable(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    x = torch.ones(3)
    directory = tmp_path / "dump"
    with depyf.prepare_debug(directory):
        assert torch.equal(torch.compile(programs.straight, backend="eager")(x), programs.straight(x))
        shutil.rmtree(directory)
        directory.write_text("no directory any more", encoding="utf-8")
        assert torch.equal(torch.compile(programs.other_program, backend="eager")(x), programs.other_program(x))
    assert directory.read_text(encoding="utf-8") == "no directory any more"
    warnings = [record.getMessage() for record in caplog.records if record.name == "depyf"]
    assert "Your program continues as without depyf" in warnings[0]


def _in_a_child(work: object) -> int:
    """Return how a forked child ends that does some work, which must not take long."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            assert callable(work)
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _compiles_in_child() -> bool:
    x = torch.ones(3)
    return torch.equal(torch.compile(programs.other_program, backend="eager")(x), programs.other_program(x))


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_compiles_as_without_depyf(tmp_path: Path) -> None:
    x = torch.ones(3)
    with depyf.prepare_debug(tmp_path):
        torch.compile(programs.straight, backend="eager")(x)
        assert _in_a_child(_compiles_in_child) == 0
        torch.compile(programs.breaking_once, backend="eager")(x)
    assert not [name for name in _whole_files(tmp_path) if "other_program" in name]


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_that_is_forked_while_another_thread_is_in_depyf_does_not_wait_for_it(tmp_path: Path) -> None:
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with ACTIVE._lock:
            inside.set()
            done.wait(SECONDS)

    with depyf.prepare_debug(tmp_path):
        torch.compile(programs.straight, backend="eager")(torch.ones(3))
        thread = threading.Thread(target=hold)
        thread.start()
        inside.wait(SECONDS)
        try:
            assert _in_a_child(_compiles_in_child) == 0
        finally:
            done.set()
            thread.join()


def test_threads_that_compile_at_once_in_one_context(tmp_path: Path) -> None:
    x = torch.ones(3)
    chosen = [programs.straight, programs.breaking_once, programs.other_program, programs.branching]
    failed: list[str] = []

    def work(program: object) -> None:
        assert callable(program)
        arguments = (x, x) if program is programs.branching else (x,)
        for size in (1, 2):
            given = [argument.repeat(size) for argument in arguments]
            if not torch.equal(torch.compile(program, backend="eager")(*given), program(*given)):
                failed.append(str(program))

    with depyf.prepare_debug(tmp_path) as session:
        threads = [threading.Thread(target=work, args=(program,)) for program in chosen]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []
    names = _whole_files(tmp_path)
    assert {f"full_code_for_{program.__name__}_0.py" for program in chosen} <= set(names)
    assert {function.name for function in session.roots()} == {program.__name__ for program in chosen}
    assert "depyf_problems.txt" not in names


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not show descriptors")
def test_a_directory_is_not_open_after_its_context_and_stays_this_process_s(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path):
        pass
    opened = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    assert str(tmp_path) not in [os.readlink(descriptor) for descriptor in opened if os.path.lexists(descriptor)]
    program = f"import depyf\nwith depyf.prepare_debug({str(tmp_path)!r}) as run: print(run.directory)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tmp_path / "process_2")
    with depyf.prepare_debug(tmp_path) as run:
        assert run.directory == str(tmp_path)


def test_a_relative_path_in_a_directory_that_was_removed_is_the_documented_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(DumpDirectoryError, match="cannot write its files to 'dump'"):
        depyf.prepare_debug("dump").__enter__()


def test_a_working_directory_that_was_removed_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with depyf.prepare_debug(tmp_path / "dump") as session:
        torch.compile(programs.straight, backend="eager")(torch.ones(3))
    assert session.problems == []
    assert (tmp_path / "dump" / "index.md").exists()
