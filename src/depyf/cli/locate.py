"""Find the code of a name without running its module, if possible.

The finders of `sys.meta_path` find a module as an import would, but parent packages are not imported. A function is
searched among the code objects of its module. If that is ambiguous (several functions with one name, a function and
a class, or a function created at run time), the module is imported, which runs it.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
import zipimport
from collections.abc import Iterator
from importlib.machinery import ModuleSpec

from depyf.bytecode import pyc
from depyf.bytecode.code import CO_OPTIMIZED, Code
from depyf.bytecode.reader import read
from depyf.bytecode.records import dataclass
from depyf.cli.archive import pyc_in_archive
from depyf.decompiler.definition import LOCALS

PARAMETERS = "<generic parameters of "


class NotFound(LookupError):
    """A name that does not refer to code. The message says which part was found."""


@dataclass(frozen=True, slots=True)
class Found:
    """The object that a name refers to.

    value: a code object (for a class, the code of its body), or the attribute if the module was imported.
    module: the code of the module if it contains the definition, else None.
    imported: whether the module was imported to find the object.
    """

    value: object
    module: types.CodeType | None = None
    imported: bool = False


def find_module(name: str) -> types.CodeType:
    """Return the code of a module.

    Raises NotFound if there is no such module, TypeError if it has no bytecode.
    """
    spec = _spec(name)
    get_code = getattr(spec.loader, "get_code", None)
    if get_code is None or spec.origin == "built-in":
        raise TypeError(f"{name} has no bytecode: it is {spec.origin or 'a package without a file'}")
    with _no_cache_written():
        code = get_code(spec.name)
    if not isinstance(code, types.CodeType):
        raise TypeError(f"{name} has no bytecode: it is {spec.origin}")
    return code


def module_code(name: str) -> Code:
    """Return the code of a module; in an archive it may belong to another Python.

    Raises NotFound if there is no such module, TypeError if it has no bytecode, DecompilationError if it is damaged.
    """
    loader: object = _spec(name).loader
    if isinstance(loader, zipimport.zipimporter):
        try:
            return read(find_module(name))
        except ImportError as error:
            data = pyc_in_archive(loader, name)
            if data is None:
                raise TypeError(f"{name} has no bytecode: {error}") from error
            return pyc.load(data, source=name)
    return read(find_module(name))


def find_definition(module: str, qualname: str) -> Found:
    """Return the object that a qualified name in a module refers to.

    Raises NotFound if there is none, TypeError if the module has no bytecode.
    """
    code = find_module(module)
    candidates = bodies(code, qualname)
    functions = [candidate for candidate in candidates if is_function(candidate)]
    classes = [candidate for candidate in candidates if not is_function(candidate)]
    if len(functions) == 1 and not classes or classes and not functions:
        return Found(candidates[0], code)
    value = _imported(module, qualname)
    if classes and isinstance(value, type):
        return Found(classes[0], code, imported=True)
    return Found(value, imported=True)


def is_function(code: types.CodeType) -> bool:
    """Return whether a code object belongs to a function and not to a class body."""
    return bool(code.co_flags & CO_OPTIMIZED)


def bodies(module: types.CodeType, qualname: str) -> list[types.CodeType]:
    """Return the code objects of all functions and classes with this qualified name."""
    codes = [module]
    for part in qualname.split("."):
        if part != LOCALS:
            codes = [inner for code in codes for inner in _inner(code) if inner.co_name == part]
    return codes


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code objects inside one, also those inside the scope of type parameters."""
    work = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    while work:
        inner = work.pop()
        yield inner
        if inner.co_name.startswith(PARAMETERS):
            work.extend(const for const in inner.co_consts if isinstance(const, types.CodeType))


def _spec(name: str) -> ModuleSpec:
    """Return the spec of a module, without running the module or its parent packages."""
    parts = name.split(".")
    spec = _one(parts[0], None)
    for length in range(2, len(parts) + 1):
        spec = _one(".".join(parts[:length]), list(spec.submodule_search_locations or ()))
    return spec


def _one(name: str, path: list[str] | None) -> ModuleSpec:
    spec = _known(name) or _searched(name, path)
    if spec is None:
        raise NotFound(f"there is no module {name!r}")
    return spec


def _known(name: str) -> ModuleSpec | None:
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return spec if isinstance(spec, ModuleSpec) else None


def _searched(name: str, path: list[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec
    return None


def _imported(module: str, qualname: str) -> object:
    """Import a module and return the object with a qualified name in it."""
    try:
        value: object = importlib.import_module(module)
    except Exception as error:  # noqa: BLE001  whatever the module raises while it runs
        raise NotFound(f"importing {module} raises {type(error).__name__}: {error}") from error
    led_to = module
    for part in qualname.split("."):
        if part == LOCALS:
            raise NotFound(f"{led_to} has no local function of that name in its bytecode")
        if not hasattr(value, part):
            raise NotFound(f"{led_to} has no {part!r}")
        value = getattr(value, part)
        led_to = f"{led_to}.{part}"
    return value


@contextlib.contextmanager
def _no_cache_written() -> Iterator[None]:
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
