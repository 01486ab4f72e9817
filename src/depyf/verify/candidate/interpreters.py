"""The CPython interpreters of this machine, by the version that they run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

FOLDERS = "DEPYF_PYTHONS"
"""Environment variable: folders with interpreters, separated as in PATH, that are searched first."""
START = 10.0
"""Seconds that an interpreter may take to start."""

Version = tuple[int, int]


def candidates(version: Version, folders: Sequence[str] = ()) -> Iterator[str]:
    """Yield possible paths of an interpreter: in the given folders, in FOLDERS, on PATH, in pyenv's versions."""
    name = "python{}.{}".format(*version)
    for folder in (*folders, *os.environ.get(FOLDERS, "").split(os.pathsep)):
        if folder:
            for path in (Path(folder) / name, Path(folder) / f"{name}.exe", Path(folder) / "bin" / name):
                if path.exists():
                    yield str(path)
    on_path = shutil.which(name)
    if on_path is not None:
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for path in sorted(pyenv.glob("{}.{}.*/bin/python".format(*version)), reverse=True):
        yield str(path)


def find_interpreter(version: Version, folders: Sequence[str] = ()) -> str | None:
    """Return the path of a CPython of this version that starts, or None.

    folders: searched before all other places.
    """
    return next((path for path in candidates(version, folders) if runs(path, version)), None)


def runs(path: str, version: Version) -> bool:
    """Return whether a program starts and is a CPython of a version."""
    script = "import sys; print(sys.implementation.name, *sys.version_info[:2])"
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", script], capture_output=True, text=True, check=False, timeout=START
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.split() == ["cpython", *map(str, version)]
