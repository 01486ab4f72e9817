"""Runs features of torch in children of one process, with a context of depyf or without, and writes what could be seen.

    python -m benchmarks.unnoticed_run MODE SCRATCH FEATURE...

MODE is `plain` or `depyf`; `plain-warm` and `depyf-warm` import Inductor before the first feature. Each feature runs in
a forked child with its own files for stdout and stderr. Paths are the same in all modes, so that nothing but depyf
differs.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import json
import logging
import os
import re
import resource
import shutil
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

from benchmarks import torch_state
from corpus.features import load

LONGEST = 900
"""Seconds that a feature may take: nothing ends it but a hang, also on a machine that stands still for a while."""
WARM = ("torch._inductor.compile_fx", "torch._inductor.codegen.cpp_wrapper_cpu", "torch.export")
"""What `--warm` imports once for all features."""

_VARYING = (
    (re.compile(r"0x[0-9a-f]+"), "0x"),
    (re.compile(r"_[0-9a-f]{8}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{12}"), "_uuid"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "uuid"),
    (re.compile(r"\b[A-Z]?\d{4} \d\d:\d\d:\d\d\.\d+ \d+"), "time"),
    (re.compile(r"\b\d+\.\d+(e-\d+)? ?(s|ms|us|seconds)\b"), "seconds"),
    (re.compile(r"\b\d{9,}\b"), "number"),
    (re.compile(r"/tmp[\w./-]*tmp\w+"), "temporary"),
    (re.compile(r"(pid|Process|process|socket:\[|pipe:\[|fd|port)[ =]*\d+"), r"\1"),
)


def normal(text: str) -> str:
    """Return a text without what differs between two runs of one program: addresses, times, random names."""
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text


def told(value: object) -> object:
    """Return a value as JSON that tells every bit of it."""
    if isinstance(value, torch.Tensor) and value.device.type != "meta" and value.layout is torch.strided:
        plain = value.detach()
        data = plain.contiguous().flatten().view(torch.uint8) if plain.numel() and plain.dim() else plain
        held = hashlib.sha256(repr(data.tolist()).encode()).hexdigest()[:16]
        return [type(value).__name__, str(value.dtype), list(value.shape), value.requires_grad, held]
    if isinstance(value, dict):
        return {normal(str(key)): told(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [told(item) for item in value]
    return normal(repr(value))


def frames(error: BaseException) -> list[object]:
    """Return the type and message of an exception and of its causes, with the places of all frames."""
    chain: list[object] = []
    current: BaseException | None = error
    while current is not None:
        places = [
            f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(current.__traceback__)
        ]
        chain.append([type(current).__name__, normal(str(current)), places])
        current = current.__cause__ or current.__context__
    return chain


_USUAL = vars(logging.Logger("usual")).keys()
"""What every logger holds: what another one holds beside it, somebody has put there."""


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.seen: list[object] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name != "torch.__trace":
            place = f"{record.pathname}:{record.lineno} {record.funcName}"
            self.seen.append([record.name, record.levelno, place, normal(record.getMessage())])


def loggers() -> dict[str, object]:
    """Return each logger but depyf's own, and torch's private one, to which its trace goes."""
    by_name: dict[str, object] = {}
    for name in sorted(logging.Logger.manager.loggerDict):
        if name not in ("depyf", "torch.__trace"):
            logger = logging.getLogger(name)
            handlers = [type(handler).__name__ for handler in logger.handlers]
            attributes = sorted(vars(logger).keys() - _USUAL)
            by_name[name] = [
                logger.level,
                handlers,
                len(logger.filters),
                logger.propagate,
                logger.disabled,
                *attributes,
            ]
    return by_name


def readable() -> dict[str, object]:
    """Return what a program can read around itself."""
    return {
        "loggers": loggers(),
        "environment": {name: normal(value) for name, value in sorted(os.environ.items())},
        "directory": _working_directory(),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "signals": [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)],
        "random numbers": hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest(),
        "interpreter": [gc.isenabled(), gc.get_threshold(), sys.getrecursionlimit(), len(gc.callbacks), len(sys.path)],
        "hooks": [normal(repr(hook)) for hook in (sys.gettrace(), sys.getprofile(), sys.excepthook, sys.stdout)],
        "settings": {name: normal(repr(value)) for name, value in torch_state._settings().items()},
    }


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "removed"


def _descriptors() -> list[str]:
    targets = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            targets.append(normal(os.readlink(f"/proc/self/fd/{number}")))
    return sorted(targets)


def observed(feature: Callable[[], object], context: contextlib.AbstractContextManager[Any]) -> dict[str, object]:
    """Run a feature in a context and return all that could be seen of it."""
    before = torch_state.picture()
    records, seen = _Records(), {}
    for name in ("", "torch"):
        logging.getLogger(name).addHandler(records)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    leaving: SystemExit | None = None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        with context:
            try:
                value: object = feature()
                seen["result"] = told(value)
            except SystemExit as error:
                leaving = error
            except BaseException as error:  # noqa: BLE001 - what it is, is compared
                seen["exception"] = frames(error)
            seen["inside"] = readable()
    value = None
    while gc.collect():  # What one round finalises may hold the last reference to more.
        pass
    seen["warnings"] = [
        [warning.category.__name__, normal(str(warning.message)), f"{warning.filename}:{warning.lineno}"]
        for warning in warned
    ]
    seen["records"] = list(records.seen)
    # While a context is entered, its directory is open: that is its lock.
    seen["after"] = {**readable(), "descriptors": _descriptors()}
    seen["changed in torch"] = {
        normal(name.replace(":", ".")): True for name in torch_state.changes(before, torch_state.picture())
    }
    seen["tensors that live"] = sum(issubclass(type(object_alive), torch.Tensor) for object_alive in gc.get_objects())
    seen["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    if leaving is not None:
        seen["leaves with"] = repr(leaving.code)
    return seen


def _child(feature: Callable[[], object], mode: str, scratch: Path) -> None:
    signal.alarm(LONGEST)
    for name, number in (("stdout", 1), ("stderr", 2)):
        os.dup2(os.open(scratch / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    torch.manual_seed(0)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(scratch / "cache")
    os.chdir(scratch)
    context: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    if mode == "depyf":
        import depyf

        context = depyf.prepare_debug(scratch.parent / "dump")
    seen = observed(feature, context)
    sys.stdout.flush()
    sys.stderr.flush()
    (scratch / "seen.json").write_text(json.dumps(seen), encoding="utf-8")


def run(name: str, feature: Callable[[], object], mode: str, scratch: Path) -> dict[str, object]:
    """Run a feature in a child; return what could be seen, with its streams and exit code."""
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / "work").mkdir(parents=True)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _child(feature, mode, scratch / "work")
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    file = scratch / "work" / "seen.json"
    seen: dict[str, object] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for stream in ("stdout", "stderr"):
        seen[stream] = normal((scratch / "work" / stream).read_text(encoding="utf-8", errors="replace"))
    return {"feature": name, "exit code": status, **seen}


def main(mode: str, scratch: str, *names: str) -> None:
    """Run features and print a line of JSON for each."""
    features = load()
    mode, _, warm = mode.partition("-")
    for module in WARM if warm else ():
        importlib.import_module(module)
    if mode == "depyf":
        import depyf

        _ = depyf.prepare_debug  # Imported once for all children.
    for name in names:
        print(json.dumps(run(name, features[name], mode, Path(scratch) / "run")), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
