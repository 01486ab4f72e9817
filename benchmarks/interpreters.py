"""The other Python interpreters of this machine, by version."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

VERSIONS = ((3, 7), (3, 8), (3, 9), (3, 10), (3, 11), (3, 12), (3, 13), (3, 14), (3, 15))
EXTRA_FOLDERS = "DEPYF_TEST_PYTHONS"
"""Environment variable with folders to look in for `python3.X`, separated as in PATH."""


@functools.cache
def find(version: tuple[int, int]) -> str | None:
    """Return the path of an interpreter of this version that starts, or None.

    Looks in the folders of DEPYF_TEST_PYTHONS, on PATH, and among pyenv's versions.
    """
    name = "python{}.{}".format(*version)
    extra = os.environ.get(EXTRA_FOLDERS, "").split(os.pathsep)
    paths = [str(Path(folder) / name) for folder in extra if folder]
    paths += [path for path in [shutil.which(name)] if path]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    paths += [str(path) for path in sorted(pyenv.glob("{}.{}.*/bin/python".format(*version)), reverse=True)]
    return next((real for path in paths if (real := executable(path, version))), None)


def executable(path: str, version: tuple[int, int]) -> str | None:
    """Return where an interpreter really is, if it starts and is a CPython of the version."""
    if not Path(path).exists():
        return None
    script = "import sys; print(sys.implementation.name, *sys.version_info[:2], sys.executable)"
    done = subprocess.run([path, "-c", script], capture_output=True, text=True, check=False)
    is_wanted = done.stdout.split()[:3] == ["cpython", *map(str, version)]
    return done.stdout.split(maxsplit=3)[3].strip() if is_wanted else None


def label(version: tuple[int, int]) -> str:
    """Write a version as the name of a test's case."""
    return "{}.{}".format(*version)
