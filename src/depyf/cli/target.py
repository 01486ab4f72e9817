"""What a TARGET on the command line stands for, and its source."""

from __future__ import annotations

import importlib
import marshal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from depyf.api import decompile, decompile_pyc


class TargetNotFound(LookupError):
    """A target that does not lead to code; the message says how far it led."""


@dataclass(frozen=True, slots=True)
class PycFile:
    """A `.pyc` of any supported Python; it is read, never executed."""

    path: Path


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A `.py`, compiled by the running Python; it is not executed."""

    path: Path


@dataclass(frozen=True, slots=True)
class Object:
    """A function of a module, which is imported to get at it."""

    module: str
    qualname: str


Target = PycFile | SourceFile | Object


def parse_target(text: str) -> Target:
    """Tell what `text` names: `FILE.pyc`, `FILE.py` or `package.module:function`.

    Raises TargetNotFound when it is a file that is not there, or has none of these forms.
    """
    path = Path(text)
    if path.suffix in (".pyc", ".py"):
        if not path.is_file():
            raise TargetNotFound(f"{text}: no such file")
        return PycFile(path) if path.suffix == ".pyc" else SourceFile(path)
    module, colon, qualname = text.partition(":")
    if not (colon and module and qualname):
        raise TargetNotFound(f"{text}: neither FILE.py, FILE.pyc nor package.module:function")
    return Object(module, qualname)


def source_of(target: Target) -> str:
    """Return the decompiled source of `target`.

    Raises TargetNotFound when it leads to nothing, SyntaxError when a `.py` does not compile, TypeError when it leads
    to something without bytecode, and DecompilationError when that cannot be read.
    """
    match target:
        case PycFile(path):
            return decompile_pyc(path)
        case SourceFile(path):
            return decompile_pyc(_compiled(path))
        case Object():
            return decompile(_find(target))


def _compiled(path: Path) -> bytes:
    """Return what a `.pyc` of the source in `path` holds."""
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    no_source_is_checked = bytes(12)
    return MAGIC_NUMBER + no_source_is_checked + marshal.dumps(code)


def _find(target: Object) -> Callable[..., object]:
    # As `python -m` does: modules of the directory where the command is given can be named.
    sys.path.insert(0, "")
    try:
        found = importlib.import_module(target.module)
    except ModuleNotFoundError as error:
        raise TargetNotFound(f"{target.module}: {error}") from error
    finally:
        sys.path.remove("")
    led_to = target.module
    for name in target.qualname.split("."):
        if not hasattr(found, name):
            raise TargetNotFound(f"{led_to} has no {name!r}")
        found = getattr(found, name)
        led_to = f"{led_to}.{name}"
    return found  # type: ignore[return-value]  # `decompile` says what is no function
