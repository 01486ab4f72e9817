"""Inductor's cache of C++ libraries: a source and the compiler's command are the key, a library is the entry."""

from __future__ import annotations

import ast
import os
import shlex
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from depyf.bytecode.records import dataclass
from depyf.model.run import Unavailable
from depyf.torch.adapters.kernel_caches.look import CPP, KernelLook, Listener, seconds_between
from depyf.torch.adapters.unseen import left_alone

_FILES = "i", "o", "-o"
"""The words of the command for the files, which are not part of a key."""
_WITH_VALUE = "-D", "-I", "-L", "-include"
"""Flags whose value is the next word."""


@dataclass(slots=True)
class _Written:
    """A source that Inductor writes: its text, the other parts of its key, its path, whether its library exists."""

    text: str
    extra: str
    path: Path
    has_library: bool


def watch_libraries(codecache: ModuleType, listener: Listener) -> Callable[[], None] | Unavailable:
    """Report each C++ library that Inductor looks up to `listener`; return a function that ends this."""
    cache: Any = getattr(codecache, "CppCodeCache", None)
    before = vars(cache).get("load_async") if cache is not None else None
    write = getattr(codecache, "write", None)
    if not isinstance(before, classmethod) or write is None:
        return Unavailable("this torch does not report its C++ libraries in a form that depyf knows")
    within = threading.local()

    @left_alone
    def noted(content: Any, extension: str, extra: str = "", *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Write `content` under its `extension` and `extra` key as Inductor does, and note a source."""
        sources: list[_Written] | None = getattr(within, "sources", None)
        key, path = write(content, extension, extra, *args, **kwargs)
        if sources is not None and extension.endswith("cpp"):
            library = f"{os.path.splitext(path)[0]}.so"
            sources.append(_Written(str(content), str(extra), Path(path), os.path.exists(library)))
        return key, path

    @left_alone
    def load_async(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as torch's own
        outer, within.sources = getattr(within, "sources", None), []
        try:
            load = before.__func__(cls, *args, **kwargs)
            # torch may test the processor's features there with its own sources.
            sources = [source for source in within.sources if source.text in (*args, *kwargs.values())]
        finally:
            within.sources = outer
        return _telling(load, sources, listener) if sources else load

    cache.load_async = classmethod(load_async)
    codecache.__dict__["write"] = noted

    def end() -> None:
        if getattr(vars(cache).get("load_async"), "__func__", None) is load_async:
            cache.load_async = before
        if vars(codecache).get("write") is noted:
            codecache.__dict__["write"] = write

    return end


def _telling(load: Callable[[], Any], written: list[_Written], listener: Listener) -> Callable[[], Any]:
    """Return a function that loads a library, and reports it the first time."""
    untold = [written]

    @left_alone
    def loaded() -> Any:  # noqa: ANN401 - a library, or a module
        begin = time.perf_counter()
        try:
            return load()
        finally:
            if untold:
                sources, seconds = untold.pop(), time.perf_counter() - begin
                listener(lambda: _look(sources, seconds))

    return loaded


def _look(sources: list[_Written], seconds: float) -> KernelLook:
    main, *others = sources
    command = main.extra
    for text in [*(other.text for other in others), "None"]:
        command = command.removeprefix(f"{text} ")
    compiler, *flags = _words(command)
    parts = {"compiler": compiler, "compiler flags": "\n".join(flags), "C++ source": main.text}
    parts |= {"C++ kernels": "\n".join(other.text for other in others)} if others else {}
    if main.has_library:
        seconds = seconds_between((main.path, main.path.with_suffix(".so")))
    return KernelLook(CPP, main.has_library, main.path.stem, parts, seconds)


def _words(command: str) -> list[str]:
    try:
        # torch before 2.7 has the literal of the command in the key.
        words = shlex.split(ast.literal_eval(command) if command[:1] in ("'", '"') else command)
    except (ValueError, SyntaxError):
        words = command.split()
    words_with_values: list[str] = []
    for word in words:
        if words_with_values and words_with_values[-1] in _WITH_VALUE:
            words_with_values[-1] += f" {word}"
        elif word not in _FILES:
            words_with_values.append(word)
    return words_with_values or [""]
