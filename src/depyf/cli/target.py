"""The TARGET argument of commands."""

from __future__ import annotations

import sys
import types
from pathlib import Path

from depyf.bytecode.code import Code, Version
from depyf.bytecode.reader import read
from depyf.bytecode.records import dataclass
from depyf.cli.archive import is_archive
from depyf.cli.locate import NotFound, find_definition, is_function, module_code
from depyf.decompiler.api import code_of, load_pyc_assuming
from depyf.errors import DecompilationError


@dataclass(frozen=True, slots=True)
class PycFile:
    """A `.pyc` of any supported Python. depyf reads it and never executes it.

    version: the Python that made it; None if its header names it, or if depyf has to find one that fits.
    """

    path: Path
    version: Version | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A `.py` file that the running Python compiles but does not execute."""

    path: Path


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with `.pyc` and `.py` files."""

    path: Path


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive with modules: a zipapp, a wheel, an egg, or a bundle of PyInstaller."""

    path: Path


@dataclass(frozen=True, slots=True)
class Named:
    """A module, or a function in it."""

    module: str
    qualname: str


Target = PycFile | SourceFile | Folder | Archive | Named


@dataclass(frozen=True, slots=True)
class Module:
    """The code of a module, and what was assumed to read it."""

    code: Code
    assumed: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """The code of a function of the running Python.

    module: the code of the module that defines it, or None if the module was imported to find it.
    qualname: its qualified name in the module.
    imported: whether the module was imported to find it.
    """

    code: types.CodeType
    module: Code | None
    qualname: str
    imported: bool = False


@dataclass(frozen=True, slots=True)
class Class:
    """A class that the code of a module of the running Python defines.

    imported: whether the module was imported to find it.
    """

    module: Code
    qualname: str
    imported: bool = False


Found = Module | Function | Class


def parse_target(text: str) -> Target:
    """Return the target that `text` names.

    It is `FILE.pyc`, `FILE.py`, a folder, an archive, any other file (it must hold marshal data), `package.module` or
    `package.module:name`.

    Raises NotFound if the file does not exist or the text has none of these forms.
    """
    path = Path(text)
    if path.is_dir():
        return Folder(path)
    if path.suffix in (".pyc", ".py"):
        if not path.exists():
            raise NotFound(f"{text}: no such file")
        return PycFile(path) if path.suffix == ".pyc" else SourceFile(path)
    if is_archive(path):
        return Archive(path)
    if path.is_file():
        return PycFile(path)  # Marshal data has no usual suffix.
    module, colon, qualname = text.partition(":")
    if not all(map(str.isidentifier, module.split("."))) or bool(colon) != bool(qualname):
        raise NotFound(f"{text}: neither FILE.py, FILE.pyc, a folder, package.module nor package.module:name")
    return Named(module, qualname)


def resolve(target: PycFile | SourceFile | Named) -> Found:
    """Return the code of a target.

    Raises NotFound if there is none, SyntaxError if a `.py` does not compile, TypeError if the object has no bytecode,
    and DecompilationError if a file cannot be read.
    """
    match target:
        case PycFile(path, version):
            loaded = load_pyc_assuming(path, version)
            return Module(loaded.code, loaded.assumed)
        case SourceFile(path):
            return Module(read(compile_file(path)))
        case Named(module, qualname):
            # Like `python -m`, accept modules in the current directory.
            sys.path.insert(0, "")
            try:
                if not qualname:
                    return Module(module_code(module))
                definition = find_definition(module, qualname)
            finally:
                sys.path.remove("")
            whole = read(definition.module) if definition.module is not None else None
            if whole is not None and isinstance(definition.value, types.CodeType) and not is_function(definition.value):
                return Class(whole, qualname, definition.imported)
            return Function(code_of(definition.value), whole, qualname, definition.imported)


def compile_file(path: Path) -> types.CodeType:
    """Return the code of a source file.

    Raises SyntaxError if it does not compile, DecompilationError if it cannot be read.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise DecompilationError(f"the file cannot be read: {error.strerror}", code=str(path)) from error
    try:
        return compile(source, str(path), "exec", dont_inherit=True)
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise SyntaxError(f"{path}: {error}") from error
