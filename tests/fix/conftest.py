"""`depyf fix` in the running process. Each run of the program is a fork of one process that has imported torch."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from depyf.fix.processes import Nursery


@pytest.fixture(scope="package")
def nursery() -> Iterator[Nursery]:
    """Start the process that forks, once for all tests of `fix`."""
    from depyf.fix.processes import Nursery

    process = Nursery()
    yield process
    process.end()


@pytest.fixture
def forked_fix(nursery: Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that runs the command on a copy of a program, with options, and returns click's result."""
    from click.testing import CliRunner

    from depyf.cli.fix import fix_command
    from depyf.fix import tries

    monkeypatch.setattr(tries, "Tries", functools.partial(tries.Tries, nursery=nursery, only_forks=True))
    monkeypatch.chdir(tmp_path)

    def run(program: Path, *options: str) -> Any:
        if program.parent != tmp_path:
            shutil.copy(program, tmp_path)
        done = CliRunner().invoke(fix_command, [*options, program.name])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert nursery.is_alive
        return done

    return run
