"""Read modules in archives (zipapps, wheels, eggs, bundles of PyInstaller) without importing or executing anything."""

from __future__ import annotations

import zipfile
import zipimport
from pathlib import Path, PurePosixPath

from depyf.cli.bundle import is_bundle, members
from depyf.decompiler.api import LARGEST
from depyf.errors import DecompilationError

MODULES = (".py", ".pyc")


def is_archive(path: Path) -> bool:
    """Return whether a path is a zip archive or a bundle, whatever its name and whatever precedes it in the file."""
    return path.is_file() and (zipfile.is_zipfile(path) or is_bundle(path))


def unpack_modules(archive: Path, folder: Path) -> None:
    """Write the `.py` and `.pyc` members of an archive to a folder.

    Args:
        archive: the path of a zip archive, of an executable of PyInstaller, or of a PYZ archive.
        folder: an existing folder.

    Raises:
        DecompilationError: the archive is damaged, a member is too large, or its name leads out of the folder.
    """
    try:
        if not zipfile.is_zipfile(archive):
            for module in members(archive):
                _write(f"{module.name}.pyc", module.pyc, archive, folder)
            return
        with zipfile.ZipFile(archive) as opened:
            for member in opened.infolist():
                if not member.is_dir() and PurePosixPath(member.filename).suffix in MODULES:
                    _unpack(opened, member, folder)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise DecompilationError(f"the archive cannot be read: {error}", code=str(archive)) from error


def _unpack(opened: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path) -> None:
    with opened.open(member) as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise DecompilationError(f"{member.filename} has more than {LARGEST} bytes", code=str(opened.filename))
    _write(member.filename, data, Path(str(opened.filename)), folder)


def _write(name: str, data: bytes, archive: Path, folder: Path) -> None:
    """Write a member to a folder. Raises DecompilationError if its name leads out of it."""
    place = PurePosixPath(name)
    if place.is_absolute() or ".." in place.parts or "\\" in name or ":" in name:
        raise DecompilationError(f"the name {name!r} leads out of the archive", code=str(archive))
    target = folder.joinpath(*place.parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def pyc_in_archive(loader: zipimport.zipimporter, module: str) -> bytes | None:
    """Return the `.pyc` of a module that a zip archive on `sys.path` has, or None if it has none.

    Args:
        loader: the loader of the module's spec.
        module: the full name of the module.
    """
    name = f"{loader.prefix}{module.rpartition('.')[2]}"
    for path in (f"{name}/__init__.pyc", f"{name}.pyc"):
        try:
            return loader.get_data(path)
        except OSError:
            continue  # The archive has no member with this name.
    return None
