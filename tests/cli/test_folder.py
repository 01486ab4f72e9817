"""A folder in, a tree of sources out; nothing that one file does stops the others."""

from __future__ import annotations

import os
import py_compile
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from depyf.cli import atomic
from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_USAGE
from depyf.cli.folder import jobs_of
from depyf.cli.workers import Lost, run_jobs

SOURCE = "def f(x):\n    return x + 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """`a.py`; `pkg/b.pyc`; the cache of `pkg/c.py`, which is gone; the cache of `a.py`, which is not."""
    root = tmp_path / "in"
    (root / "pkg").mkdir(parents=True)
    (root / "a.py").write_text(SOURCE, encoding="utf-8")
    py_compile.compile(str(root / "a.py"), doraise=True)
    (root / "pkg" / "c.py").write_text(SOURCE, encoding="utf-8")
    py_compile.compile(str(root / "pkg" / "c.py"), doraise=True)
    py_compile.compile(str(root / "pkg" / "c.py"), str(root / "pkg" / "b.pyc"), doraise=True)
    (root / "pkg" / "c.py").unlink()
    return root


def test_a_tree_of_sources_and_a_summary(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(depyf, ["decompile", str(folder), "-o", str(out), "-j", "2"])
    assert done.exit_code == EXIT_DONE
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()) == [
        "a.py",
        "pkg/b.py",
        "pkg/c.py",
    ]
    assert (out / "pkg" / "c.py").read_text(encoding="utf-8") == SOURCE
    assert done.stdout.startswith("3 files: 3 EXACT\n")


def test_bad_files_do_not_stop_the_others(folder: Path, tmp_path: Path) -> None:
    (folder / "broken.py").write_text("def f(:\n", encoding="utf-8")
    (folder / "cut.pyc").write_bytes((folder / "pkg" / "b.pyc").read_bytes()[:40])
    (folder / "empty.pyc").write_bytes(b"")
    out = tmp_path / "out"
    done = CliRunner().invoke(depyf, ["decompile", str(folder), "-o", str(out), "-j", "2"])
    assert done.exit_code == EXIT_FAILED
    assert done.stdout.startswith("6 files: 3 EXACT, 3 failed\n")
    assert "cut.pyc" in done.stdout
    assert "3 of 6 files" in done.stderr
    assert not (out / "cut.py").exists()
    assert not list(out.rglob("*.part"))


def test_files_that_would_go_to_one_place_are_named_in_full(folder: Path, tmp_path: Path) -> None:
    cache = folder / "pkg" / "__pycache__"
    (cached,) = cache.iterdir()
    (cache / "c.cpython-38.pyc").write_bytes(cached.read_bytes())
    names = [job.out.name for job in jobs_of(folder, tmp_path, prove=True, without=frozenset())]
    assert sorted(names) == sorted(["a.py", "b.py", "c.cpython-38.pyc.py", f"{cached.name}.py"])


def test_a_folder_needs_a_place_to_go(folder: Path) -> None:
    for arguments in ([], ["-o", "x", "--show", "cfg"], ["-o", "x", "--stop-after", "lift"]):
        done = CliRunner().invoke(depyf, ["decompile", str(folder), *arguments])
        assert done.exit_code == EXIT_USAGE


LIMIT = 10
"""Seconds that a job may take: a busy machine starts a process in less."""


def work(job: str) -> str:
    """Do what the job says."""
    if job == "crash":
        os._exit(3)
    if job == "hang":
        time.sleep(60 * LIMIT)
    return job.upper()


def test_a_job_that_crashes_or_hangs_costs_that_job_alone() -> None:
    jobs = ["a", "crash", "b", "hang", "c", "crash", "d"]
    results = list(run_jobs(work, jobs, count=2, limit=LIMIT))
    assert sorted(job for job, _ in results) == sorted(jobs)
    for job, result in results:
        if job == "crash":
            assert result == Lost("its process ended with exit code 3")
        elif job == "hang":
            assert result == Lost(f"it took more than {LIMIT} s")
        else:
            assert result == job.upper()


def test_a_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*paths: Path) -> None:
        raise OSError("full")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="full"):
        atomic.write_whole(tmp_path / "x.py", "text")
    assert list(tmp_path.iterdir()) == []
