"""A picture of everything in torch that a tool might change and forget: to be taken before and after."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterable
from typing import Any

import torch
import torch._dynamo
import torch._functorch.config
import torch._inductor.config

Picture = dict[str, object]
"""Objects by name; what a module holds has a name `module:attribute`."""


class _Missing:
    def __repr__(self) -> str:
        return "(not there)"


MISSING = _Missing()


class _Objects:
    """Objects that are equal to these same objects alone. They are kept: an address is given again to what is new."""

    def __init__(self, objects: Iterable[object]) -> None:
        self._objects = tuple(objects)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Objects) and list(map(id, self._objects)) == list(map(id, other._objects))

    def __repr__(self) -> str:
        return repr(self._objects)


def picture() -> Picture:
    """Return what every attribute, handler, hook and setting of torch is now, by its name."""
    return {**_attributes(), **_loggers(), **_settings(), **_hooks(), **_interpreter()}


def changes(before: Picture, after: Picture) -> dict[str, str]:
    """Return what is another object in `after`, by name, with both in words.

    What came with a module that was not imported before is no change.
    """
    modules = {name.partition(":")[0] for name in before}
    changed = {}
    for name in before.keys() | after.keys():
        if name not in before and name.partition(":")[0] not in modules:
            continue
        old, new = before.get(name, MISSING), after.get(name, MISSING)
        if old is not new and not (_plain(old) and _plain(new) and old == new):
            changed[name] = f"{old!r:.60} -> {new!r:.60}"
    return changed


def _plain(value: object) -> bool:
    return isinstance(value, (bool, int, float, str, tuple, _Objects, type(None)))


def _attributes() -> Picture:
    """Every function and class that a module of torch holds, and every method of those classes."""
    functions: Picture = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ("torch", "functorch") or module is None:
            continue
        for key, value in list(vars(module).items()):
            if callable(value):
                functions[f"{name}:{key}"] = value
            # By `type`, as some objects of torch answer `isinstance` with a warning.
            if issubclass(type(value), type) and value.__module__ == name:
                functions.update(
                    (f"{name}:{key}.{method}", what) for method, what in vars(value).items() if callable(what)
                )
    return functions


def _loggers() -> Picture:
    loggers: Picture = {}
    for name, logger in list(logging.Logger.manager.loggerDict.items()):
        if name.partition(".")[0] == "torch" and isinstance(logger, logging.Logger):
            loggers[f"logger {name} handlers"] = _Objects(logger.handlers)
            loggers[f"logger {name} filters"] = _Objects(logger.filters)
            loggers[f"logger {name} level"] = logger.level
            loggers[f"logger {name} propagate"] = logger.propagate
            loggers[f"logger {name} disabled"] = logger.disabled
    return loggers


def _settings() -> Picture:
    settings: Picture = {}
    for module in (torch._dynamo.config, torch._inductor.config, torch._functorch.config):
        copied = getattr(module, "get_config_copy", None) or module.shallow_copy_dict
        values: dict[str, Any] = copied()
        settings.update((f"{module.__name__}.{key}", repr(value)) for key, value in values.items())
    return settings


def _hooks() -> Picture:
    callbacks = getattr(sys.modules.get("torch._dynamo.callback"), "callback_handler", None)
    ask_callback = getattr(torch._C._dynamo.eval_frame, "get_eval_frame_callback", lambda: None)
    return {
        "bytecode hooks": _Objects(torch._dynamo.convert_frame._bytecode_hooks.values()),
        "callbacks at start": _Objects(getattr(callbacks, "start_callbacks", ())),
        "callbacks at end": _Objects(getattr(callbacks, "end_callbacks", ())),
        "stance": repr(getattr(torch._dynamo.eval_frame, "_stance", None)),
        "eval frame callback": ask_callback(),
        "listener to runs": getattr(torch._C._dynamo.eval_frame, "get_bytecode_debugger_callback", lambda: None)(),
        "guard hook": torch._dynamo.guards.guard_error_hook,
        "grad mode": torch.is_grad_enabled(),
    }


def _interpreter() -> Picture:
    return {
        "sys.settrace": sys.gettrace(),
        "sys.setprofile": sys.getprofile(),
        "sys.excepthook": sys.excepthook,
        "sys.meta_path": _Objects(sys.meta_path),
        "sys.path": tuple(sys.path),
        "threading.excepthook": threading.excepthook,
        "threads": tuple(thread.name for thread in threading.enumerate()),
        "warnings.showwarning": warnings.showwarning,
        "warnings.filters": repr(warnings.filters),
    }
