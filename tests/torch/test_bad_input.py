"""Dump directories that cannot be used, and functions that are none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import depyf
from benchmarks.torch_state import changes, picture

NOBODY = 65534


def _refused(directory: Path) -> OSError:
    """Enter a context that must not begin; return its error after a look at what it left."""
    before = picture()
    with pytest.raises(OSError) as caught:
        depyf.prepare_debug(directory).__enter__()
    assert changes(before, picture()) == {}
    return caught.value


def test_a_directory_that_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_text("mine", encoding="utf-8")
    assert str(path) in str(_refused(path))
    assert path.read_text(encoding="utf-8") == "mine"


def test_a_directory_below_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine", encoding="utf-8")
    assert str(path) in str(_refused(path / "a" / "b"))


@contextmanager
def _privileges_dropped() -> Iterator[None]:
    """Make this process one that file modes hold for, for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.mkdir(mode=0o555)
    # pytest makes directories that only their owner can enter.
    for parent in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        parent.chmod(0o755)
    with depyf.prepare_debug(tmp_path / "imports all that is needed"), _privileges_dropped():
        pass
    with _privileges_dropped():
        error = _refused(path)
    assert str(path) in str(error)


FULL = """
import resource, sys, warnings
import torch, torch._dynamo, depyf
from examples.toy_example import toy_example

def fill_the_disk():
    # From here on no file can grow: what a full disk does, but for the number of the error.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

when, directory = sys.argv[1:]
if when == "before":
    fill_the_disk()
a, b = torch.randn(10), torch.rand(10)
try:
    context = depyf.prepare_debug(directory)
    context.__enter__()
except OSError as error:
    print("refused:", error)
    sys.exit()
compiled = torch.compile(toy_example, backend="eager")
first = compiled(a, b)
if when == "after":
    fill_the_disk()
second = compiled(a, -b)
context.__exit__(None, None, None)
assert torch.equal(first, toy_example(a, b)) and torch.equal(second, toy_example(a, -b))
print("ran")
"""


def _on_a_full_disk(when: str, directory: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "always", "-c", FULL, when, str(directory)]
    root = Path(__file__).resolve().parents[2]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)


def test_a_disk_that_is_full_from_the_start_is_one_clear_error(tmp_path: Path) -> None:
    done = _on_a_full_disk("before", tmp_path / "dump")
    assert done.stdout.startswith("refused:")
    assert str(tmp_path / "dump") in done.stdout


def test_a_disk_that_fills_up_later_is_a_warning_and_a_running_program(tmp_path: Path) -> None:
    done = _on_a_full_disk("after", tmp_path / "dump")
    assert done.stdout == "ran\n"
    assert "depyf" in done.stderr
    assert str(tmp_path / "dump") in done.stderr


@pytest.mark.parametrize("thing", [3, "def f(): pass", None, object(), len, [1, 2]], ids=lambda value: str(type(value)))
def test_a_function_that_is_no_function_is_named(thing: object) -> None:
    with pytest.raises(TypeError) as caught:
        depyf.decompile(thing)  # type: ignore[arg-type]
    assert type(thing).__name__ in str(caught.value) or repr(thing) in str(caught.value)
