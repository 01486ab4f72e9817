"""Serve edited texts under the paths of the user's files, which stay as they are."""

from __future__ import annotations

import importlib.machinery
import linecache
import os
import runpy
import sys
import types
from collections.abc import Mapping
from typing import Any


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from its edited text, without the compiled file of the other text."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> types.CodeType:
        """Return the code of the edited text."""
        return compiled(self._text, self.path)


class _Finder(importlib.machinery.PathFinder):
    """Finds modules as Python does, and gives those with an edited text another loader."""

    texts: Mapping[str, str] = {}

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module with an edited text, or None for any other.

        Args:
            fullname: the name of the module.
            path: the path of its package, as the import system passes it.
            target: the module to reload, as the import system passes it.
        """
        spec = super().find_spec(fullname, path, target)
        text = cls.texts.get(os.path.realpath(spec.origin)) if spec is not None and spec.origin else None
        if spec is None or spec.origin is None or text is None:
            return None
        spec.loader = _Loader(fullname, spec.origin, text)
        return spec


def compiled(text: str, path: str) -> types.CodeType:
    """Return the code of a text, and let tracebacks show its lines."""
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    return compile(text, path, "exec", dont_inherit=True)


def serve(texts: Mapping[str, str]) -> None:
    """Serve these texts to all imports that follow. `texts` has them by the real path of their file."""
    _Finder.texts = texts
    sys.meta_path.insert(0, _Finder)


def run_main(target: str, texts: Mapping[str, str], *, is_module: bool) -> None:
    """Run a script or a module as `__main__`, with its edited text if there is one.

    Args:
        target: the path of a script or the name of a module.
        texts: the edited texts, by the real path of the file.
        is_module: whether `target` is a module.
    """
    if is_module:
        runpy.run_module(target, run_name="__main__", alter_sys=True)
        return
    text = texts.get(os.path.realpath(target))
    if text is None:
        runpy.run_path(target, run_name="__main__")
        return
    main = types.ModuleType("__main__")
    main.__file__ = target
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    exec(compiled(text, target), main.__dict__)
