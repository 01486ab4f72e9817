"""The oracle: compiling for another version, in an interpreter of it."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from depyf.api import decompile_module, load_pyc
from depyf.verify.candidate.interpreters import FOLDERS, find_interpreter
from depyf.verify.candidate.oracle import NotCompiled, Oracle
from depyf.verify.level import Level
from tests import interpreters
from tests.bytecode.listings import compiled

HERE = sys.version_info[:2]
SOURCE = "def f(x):\n    return x + 1 if x else None\n"


def oracle_for(version: tuple[int, int], limit: float = 20) -> Oracle:
    """Return an oracle that finds this version; skips the test without one."""
    folder = str(Path(interpreters.need(version)).parent)
    return Oracle(folders=(folder,), limit=limit)


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
def test_code_of_each_version_is_proven(version: tuple[int, int]) -> None:
    code = compiled(SOURCE, version)
    with oracle_for(version) as oracle:
        decompiled = decompile_module(code, oracle=oracle)
        assert decompiled.level is Level.EXACT, decompiled.reason
        again = oracle.compile("x = 1\n", version)
        assert (again.version, len(oracle.idle.get(version, ()))) == (version, 1)


def test_without_an_interpreter_the_level_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = next(version for version in interpreters.VERSIONS if version != HERE and interpreters.find(version))
    code = compiled(SOURCE, other)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv(FOLDERS, "")
    with Oracle() as oracle:
        decompiled = decompile_module(code, oracle=oracle)
    assert decompiled.level is Level.UNPROVEN
    assert decompiled.reason == "it was not compiled: there is no CPython {}.{} on this machine".format(*other)


def test_a_source_that_does_not_compile() -> None:
    with oracle_for(HERE) as oracle:
        with pytest.raises(NotCompiled, match="the source does not compile: SyntaxError"):
            oracle.compile("x = = 1", HERE)
        assert oracle.compile("x = 1", HERE).name == "<module>"


def test_nothing_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    with oracle_for(HERE) as oracle:
        oracle.compile(f"open({str(mark)!r}, 'w')", HERE)
    assert not mark.exists()


def test_a_worker_that_is_late_is_ended_and_replaced() -> None:
    with oracle_for(HERE, limit=0.2) as oracle:
        oracle.compile("x = 1", HERE)
        (worker,) = oracle.idle[HERE]
        with pytest.raises(NotCompiled, match="not compiled within 0.2 s"):
            oracle.compile("x = [" + "a.b(c), " * 400_000 + "]", HERE)
        assert worker.process.returncode is not None
        oracle.limit = 20
        assert oracle.compile("x = 1", HERE)


def test_a_worker_that_has_died_is_replaced() -> None:
    with oracle_for(HERE) as oracle:
        oracle.compile("x = 1", HERE)
        (worker,) = oracle.idle[HERE]
        worker.process.kill()
        worker.process.wait()
        assert oracle.compile("x = 1", HERE)
        assert oracle.idle[HERE] != [worker]


def test_several_threads_have_workers_of_their_own() -> None:
    with oracle_for(HERE) as oracle:
        threads = [threading.Thread(target=oracle.compile, args=(f"x = {n}", HERE)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        workers = oracle.idle[HERE]
        assert 1 <= len(workers) <= 4
    assert all(worker.process.returncode is not None for worker in workers)


def test_no_worker_outlives_the_program() -> None:
    version = HERE
    script = (
        "from depyf.verify.candidate.oracle import shared_oracle\n"
        "oracle = shared_oracle()\n"
        f"oracle.compile('x = 1', {version})\n"
        f"print(oracle.idle[{version}][0].process.pid)\n"
    )
    folder = str(Path(interpreters.need(version)).parent)
    environment = {**os.environ, FOLDERS: folder}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    pid = int(done.stdout)
    assert not Path(f"/proc/{pid}").exists() or not Path("/proc").exists()


def test_a_folder_without_interpreters_is_passed_over(tmp_path: Path) -> None:
    fake = tmp_path / "python{}.{}".format(*HERE)
    fake.write_text("#!/bin/sh\necho cpython 2 7\n", encoding="utf-8")
    fake.chmod(0o755)
    assert find_interpreter(HERE, (str(tmp_path),)) != str(fake)


def test_a_file_of_this_python_is_compiled_in_this_process(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(SOURCE, encoding="utf-8")
    target = py_compile.compile(str(path), str(tmp_path / "x.pyc"), doraise=True)
    assert target is not None
    with Oracle() as oracle:
        assert decompile_module(load_pyc(target), oracle=oracle).level is Level.EXACT
        assert oracle.idle == {}
