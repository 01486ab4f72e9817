"""Paths that stay inside one directory, whatever a request says."""

from __future__ import annotations

import os
import re
from pathlib import Path

from depyf.bytecode.records import dataclass
from depyf.model.index_reader import Run
from depyf.views.brief.answer import files_of
from depyf.views.html.process import processes

LONGEST = 1024
"""Characters of the longest path that is looked at."""
MOST_FILES = 20_000
"""Files of a dump that are looked at; a larger one is refused."""
PATCHES = (".patch", ".diff")
"""The ends of names of patches."""
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class RefusedError(ValueError):
    """A request names something that the server does not touch; the message says why."""


@dataclass(frozen=True, slots=True)
class Confined:
    """A directory. Symbolic links are resolved, so a link that leaves it leads outside."""

    directory: Path

    def path(self, name: str) -> Path:
        """Return the resolved path of a name, relative to the directory.

        Raises:
            RefusedError: it is outside of the directory, or no path.
        """
        if not name or "\0" in name or len(name) > LONGEST:
            raise RefusedError("a path has 1 to 1024 characters, and none of them is NUL")
        try:
            path = (self.directory / name).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise RefusedError(f"{name!r} is no path: {error}") from error
        if not path.is_relative_to(self.directory):
            raise RefusedError(f"{name!r} is outside of the working directory")
        return path

    def script(self, name: str) -> Path:
        """Return the path of a script.

        Raises:
            RefusedError: it is outside of the directory, or no file.
        """
        path = self.path(name)
        if not path.is_file():
            raise RefusedError(f"there is no script {name!r} in the working directory")
        return path

    def module(self, name: str) -> str:
        """Return the name of a module whose source is in the directory.

        Raises:
            RefusedError: it is no name, or the module is not in the directory.
        """
        if len(name) > LONGEST or _MODULE.fullmatch(name) is None:
            raise RefusedError(f"{name[:80]!r} is no name of a module")
        stem = name.replace(".", "/")
        places = [self.path(f"{stem}.py"), self.path(f"{stem}/__main__.py")]
        if not any(place.is_file() for place in places):
            raise RefusedError(f"there is no module {name!r} in the working directory")
        return name

    def output(self, name: str) -> Path:
        """Return the path of a directory for files: one in the directory, and not the directory itself.

        Raises:
            RefusedError: it is outside, the directory itself, or a file.
        """
        path = self.path(name)
        if path == self.directory or (path.exists() and not path.is_dir()):
            raise RefusedError(f"{name!r} is no directory below the working directory")
        if path.is_dir():
            self._check_links(path, name)
        return path

    def patch(self, name: str) -> Path:
        """Return the path of a patch to write.

        Raises:
            RefusedError: it is outside, or its name is not that of a patch, so that no other file is overwritten.
        """
        path = self.path(name)
        if path.suffix not in PATCHES or path.is_dir():
            raise RefusedError(f"{name!r} is no name of a patch; it ends in {' or '.join(PATCHES)}")
        return path

    def runs(self, name: str) -> dict[str, Run]:
        """Return the runs of a dump by the labels of their processes.

        Raises:
            RefusedError: there is no dump, it is damaged, or one of its files leads outside.
        """
        path = self.path(name)
        if not path.is_dir():
            raise RefusedError(f"there is no dump {name!r} in the working directory")
        self._check_links(path, name)
        try:
            by_label = {process.label: process.run for process in processes(path, 0.0)}
        except (OSError, ValueError) as error:
            raise RefusedError(f"the dump {name!r} cannot be read: {error}") from error
        if not by_label:
            raise RefusedError(f"there is no dump in {name!r}")
        for run in by_label.values():
            for file in files_of(run):
                if not (run.directory / file).resolve().is_relative_to(self.directory):
                    raise RefusedError(f"the dump {name!r} names a file outside of the working directory")
        return by_label

    def _check_links(self, dump: Path, name: str) -> None:
        """Refuse a dump with a symbolic link that leaves the directory."""
        count = 0
        for folder, folders, files in os.walk(dump):
            count += len(files)
            if count > MOST_FILES:
                raise RefusedError(f"{name!r} has more than {MOST_FILES} files; name the directory of one dump")
            for entry in (*folders, *files):
                path = Path(folder, entry)
                if path.is_symlink() and not path.resolve().is_relative_to(self.directory):
                    raise RefusedError(f"{name!r} has a link that leaves the working directory")
