"""While depyf is the only listener of torch's structured trace, skip unneeded records and simplify the others.

torch makes three records for each parameter of a model, and a text of all guards, which depyf reads as objects. For a
transformer of twelve layers this is a third of the cost of a listener: 435 records, and a text of 665 kB.

torch's additional work for other records is skipped, too. That work is a log record with the place of the call, a
checksum of the text, and copies of the hundred numbers of a compile. The reasons why n entries refused a call stay a
list of n texts, which are not joined, because all but one were in the previous record.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import torch

from depyf.bytecode.host import without_warnings
from depyf.torch.adapters import seams
from depyf.torch.adapters.unseen import left_alone, unseen
from depyf.trace import stages
from depyf.trace.events import is_about_tuning
from depyf.trace.records import record_kind
from depyf.trace.refusals import Listed

_FUNCTION = "trace_structured"
_KNOWN = {
    *("metadata_fn", "payload_fn", "suppress_context", "expect_trace_id", "record_logging_overhead", "compile_id"),
}
"""The arguments of torch's function. A call with other arguments is passed to torch's own function."""
_SETTINGS = ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config")
_OF_SUBCLASSES = ("subclass_inp_meta", "subclass_fw_graph_out_meta", "subclass_tangent_meta", "grad_input_metas")
"""The attributes of AOTAutograd's metadata that describe tensors of subclasses."""
_ENDS = (stages.FRAME_ENDS, stages.BACKWARD_ENDS)
_NEVER = stages.UNINTERESTING - {stages.TIMELINE}

Take = Callable[[dict[str, Any], "str | None"], None]
Receive = Callable[[str, Mapping[str, Any], str | None], None]
"""Receives the metadata of a record and its payload."""


class Listener(Protocol):
    """Measures the times of compiles."""

    def event(self, event: Mapping[str, Any]) -> None:
        """Receive one of torch's timeline events, when it happens."""

    def enter_own(self) -> int | None:
        """Begin depyf's own work in this thread; return what `leave_own` takes, None before its first compile."""

    def leave_own(self, depth: int) -> None:
        """End depyf's own work."""


LISTENERS: list[Listener] = []
"""Who measures now; empty unless compile times are asked for."""


@contextmanager
def own_time() -> Iterator[None]:
    """Count the time of a `with` statement as depyf's own."""
    depths = [(measuring, depth) for measuring in LISTENERS if (depth := measuring.enter_own()) is not None]
    try:
        yield
    finally:
        for measuring, depth in depths:
            measuring.leave_own(depth)


class _TraceHandler(logging.Handler):
    """The handler of torch's trace logger."""

    def __init__(self, receive: Receive) -> None:
        super().__init__(logging.DEBUG)
        self._receive = receive

    @unseen
    def emit(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", None)
        if isinstance(metadata, Mapping):
            self.take(metadata, getattr(record, "payload", None))

    def take(self, metadata: Mapping[str, Any], payload: str | None) -> None:
        self._receive(record_kind(metadata)[0], metadata, payload)


@contextmanager
def hearing_trace(receive: Receive) -> Iterator[None]:
    """Receive the records of torch's structured trace, from all threads.

    Args:
        receive: takes the kind of a record, its metadata, and its payload or None.
    """
    logger, handler = logging.getLogger(seams.TRACE_LOGGER), _TraceHandler(receive)
    logger.addHandler(handler)
    end = _pass_over_unheard(logger, handler, handler.take)
    try:
        yield
    finally:
        end()
        logger.removeHandler(handler)


def _pass_over_unheard(log: logging.Logger, own_handler: logging.Handler, take: Take) -> Callable[[], None]:
    """Make torch skip the records that depyf ignores, while `own_handler` is the only handler that receives them.

    The other records are passed to `take`, without a log record. The returned function ends this. If another tool
    already listens, nothing is replaced, because records contain the file they come from. A torch whose function is
    elsewhere makes all records.
    """
    original = getattr(torch._logging, _FUNCTION, None)
    if not callable(original) or any(_listens(handler) for handler in log.handlers if handler is not own_handler):
        return _nothing
    return _replace(original, left_alone(lambda: log.handlers == [own_handler] and not log.filters), take)


def pass_on(event: Mapping[str, Any]) -> bool:
    """Pass an event of torch's timeline to those who measure; return whether it is about tuning."""
    for measuring in LISTENERS:
        measuring.event(event)
    return is_about_tuning(str(event.get("name")))


@unseen
def _is_about_tuning(given: dict[str, Any]) -> bool:
    """Pass on an event, given the arguments of torch's function; return whether it is about tuning."""
    event = given["payload_fn"]() if "payload_fn" in given else None
    return isinstance(event, Mapping) and pass_on(event)


def _listens(handler: logging.Handler) -> bool:
    """Return whether a handler needs records. torch's own writes nothing unless `TORCH_TRACE` is set."""
    return getattr(handler, "root_dir", "") is not None


def _replace(original: Callable[..., object], is_alone: Callable[[], bool], take: Take) -> Callable[[], None]:
    @left_alone
    def trace_structured(name: str, *args: Any, **kwargs: Any) -> object:
        if not is_alone():
            return original(name, *args, **kwargs)
        if name == stages.TIMELINE and not _is_about_tuning(kwargs) or name in _NEVER:
            return None
        if len(args) > 1 or not kwargs.keys() <= _KNOWN:
            return original(name, *args, **kwargs)
        _hand_over(take, name, *args, **kwargs)
        return None

    # A backward that is compiled at its first call is compiled where Dynamo inspects every frame.
    wrapper = functools.update_wrapper(trace_structured, original)
    _exchange(original, wrapper)
    return lambda: _exchange(wrapper, original)


def _exchange(present: Callable[..., object], other: Callable[..., object]) -> None:
    """Replace a function in each module of torch's that has it, also in those that torch has imported meanwhile."""
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.") and getattr(module, "__dict__", {}).get(_FUNCTION) is present:
            setattr(module, _FUNCTION, other)


@left_alone
def _nothing() -> None:
    return None


@unseen
@unseen
def _hand_over(
    take: Take,
    name: str,
    metadata_fn: Callable[[], Any] = dict,
    *,
    payload_fn: Callable[[], object] = _nothing,
    suppress_context: bool = False,
    expect_trace_id: bool = True,
    record_logging_overhead: bool = True,
    compile_id: Any = None,
) -> None:
    """Pass a record to `take` as torch would: its metadata, and its compile."""
    began = time.time_ns()
    with own_time():
        details = _numbers(metadata_fn) if name in _ENDS else metadata_fn()
        metadata = {name: details}
        if not suppress_context:
            _add_compile(metadata, compile_id)
        payload = _payload(name, details, payload_fn)
        if type(payload) is list and name == stages.ARTEFACT and details.get("name") == stages.RECOMPILE_REASONS:
            payload = Listed(payload) if all(type(item) is str for item in payload) else payload
        take(metadata, payload if payload is None or isinstance(payload, str) else _text(payload))
    add = getattr(torch._logging._internal, "add_structured_logging_overhead", None)
    if record_logging_overhead and add is not None:
        add((time.time_ns() - began) / 1e9)


def _payload(name: str, details: Any, payload_fn: Callable[[], object]) -> object:
    """Return what a record holds; None for guards, which depyf reads themselves.

    torch makes the text of a record only for a listener, so an error in that must not reach the program.
    """
    if name == stages.GUARD_TREE:
        return None
    artefact = details.get("name") if name == stages.ARTEFACT else ""
    if artefact in stages.METADATA and any(map(_shows_subclass, _held(payload_fn))):
        return "# The metadata contains tensors of a subclass, whose text only the program's own code can make.\n"
    try:
        if artefact == stages.RUNNABLE:
            # It lists torch's settings. Torch 2.6 warns of those that it leaves out.
            with without_warnings(UserWarning), _settings_left_alone():
                return payload_fn()
        return payload_fn()
    except Exception as error:  # noqa: BLE001 - whatever torch's own text raises
        return f"# torch cannot write this here: {type(error).__name__}: {error}\n"


def _held(function: Callable[..., object]) -> list[object]:
    """Return the values in the closure of a function."""
    return [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]


def _shows_subclass(held: object) -> bool:
    """Return whether AOTAutograd's metadata contains tensors of a subclass. Their `__repr__` is the program's code."""
    metadata = getattr(held, "runtime_metadata", held)
    described = (getattr(metadata, name, None) or () for name in _OF_SUBCLASSES)
    return any(hasattr(member, "original_subclass") for several in described for member in several)


@contextmanager
def _settings_left_alone() -> Iterator[None]:
    """Undo what reading torch's settings does: torch keeps a copy of a default, and a copied set has another order."""
    unset = getattr(sys.modules.get("torch.utils._config_module"), "_UNSET_SENTINEL", None)
    modules = [sys.modules[name] for name in _SETTINGS if name in sys.modules]
    entries = [entry for module in modules for entry in getattr(module, "_config", {}).values()]
    apart = [entry for entry in entries if unset is not None and _override(entry) is unset]
    try:
        yield
    finally:
        for entry in apart:
            if _override(entry) is not unset:
                held = entry.user_override
                held.set(unset) if isinstance(held, ContextVar) else setattr(entry, "user_override", unset)


def _override(entry: Any) -> object:
    """Return the value that a program or torch has set. Newer torches, such as 2.13, keep it in a ContextVar."""
    held = getattr(entry, "user_override", None)
    return held.get() if isinstance(held, ContextVar) else held


def _add_compile(metadata: dict[str, Any], compile_id: Any) -> None:
    """Add the compile that a record belongs to."""
    trace_id = torch._guards.CompileContext.current_trace_id()
    compile_of_record = trace_id.compile_id if trace_id is not None else compile_id
    for name in ("compiled_autograd_id", "frame_id", "frame_compile_id"):
        value = getattr(compile_of_record, name, None)
        if value is not None:
            metadata[name] = value
    if trace_id is not None:
        metadata["attempt"] = trace_id.attempt


def _numbers(metadata_fn: Callable[[], Any]) -> Any:
    """Return the numbers of a finished compile in place, because torch would copy each of them."""
    held = _held(metadata_fn)
    if len(held) != 1 or not dataclasses.is_dataclass(held[0]):
        return metadata_fn()
    return {field.name: getattr(held[0], field.name) for field in dataclasses.fields(held[0])}


def _text(payload: object) -> str:
    """Return a payload other than text as torch writes it."""
    if isinstance(payload, list):
        return "[\n" + ",\n".join(json.dumps(item) for item in payload) + "\n]"
    return json.dumps(payload, default=list, indent=0)
