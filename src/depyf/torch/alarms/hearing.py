"""Turn torch's records about compiles into events. Nothing here runs when compiled code is called again."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import field
from typing import Any

from torch._dynamo import convert_frame

from depyf.bytecode.records import dataclass
from depyf.model.run import CompileId
from depyf.torch.adapters import lacking, seams
from depyf.torch.adapters.caller import place_of_call
from depyf.torch.adapters.twins import hear
from depyf.torch.adapters.unheard import hearing_trace
from depyf.torch.alarms.event import CompileEvent, Kind
from depyf.trace import refusals, stages
from depyf.trace.records import record_compile_id, record_kind

HEARD = frozenset({stages.FRAME_STARTS, stages.FRAME_ENDS, stages.BACKWARD_ENDS, stages.RECOMPILE_REASONS})
MOST_OPEN = 256
"""The most unfinished compiles that are kept. A compile that an exception ended may have no end."""
_LIMIT = "torch._dynamo hit config."
_FUNCTION = re.compile(r"^'(?P<name>.*)' \((?P<file>.*):(?P<line>\d+)\)$", re.DOTALL)
_TOTAL = "entire_frame_compile_time_s"
_BACKWARD = ("backward_cumulative_compile_time_us", "duration_us")


@dataclass(slots=True)
class _Open:
    """A compile that has not ended."""

    caller: str = ""
    causes: tuple[str, ...] = ()


@dataclass(slots=True)
class Hearing:
    """Receives torch's records and reports events.

    report: receives each event.
    add_seconds: receives the duration of each compile of a backward, in seconds.
    failed: receives an error of depyf's own, which must not reach the program.
    """

    report: Callable[[CompileEvent], None]
    add_seconds: Callable[[float], None]
    failed: Callable[[Exception], None]
    open: dict[CompileId, _Open] = field(default_factory=dict)

    def begin(self) -> ExitStack:
        """Begin to receive records from all threads; return the stack that ends this.

        Raises:
            RuntimeError: this torch does not report its compiles.
        """
        missing = lacking.structured_trace()
        if missing is not None:
            raise RuntimeError(f"depyf cannot see compiles: {missing.reason}")
        with ExitStack() as hooks:
            hooks.enter_context(hearing_trace(self.on_record))
            log = getattr(convert_frame, "log", None)
            if isinstance(log, logging.Logger):
                hooks.callback(hear(logging.getLogger(log.name), convert_frame.__name__, self.on_line))
            return hooks.pop_all()
        raise AssertionError("nothing above swallows an exception")

    def on_record(self, kind: str, metadata: Mapping[str, Any], payload: str | None) -> None:
        """Process one record of torch's structured trace.

        Args:
            kind: torch's name for the record.
            metadata: the record without its payload.
            payload: its payload, if it has one.
        """
        if kind not in HEARD:
            return
        try:
            self._take(kind, metadata, payload)
        except Exception as error:  # noqa: BLE001 - whatever it is, the user's program goes on
            self.failed(error)

    def _take(self, kind: str, metadata: Mapping[str, Any], payload: str | None) -> None:
        compile_id = record_compile_id(metadata)
        if compile_id is None:
            return
        if kind == stages.BACKWARD_ENDS:
            self.add_seconds(_seconds(record_kind(metadata)[1]))
            return
        if kind == stages.FRAME_ENDS:
            begun, metrics = self.open.pop(compile_id, _Open()), record_kind(metadata)[1]
            # A compile that the recompile limit prevented has an end without a function.
            if metrics.get("co_name"):
                self.report(_event(compile_id, begun, metrics))
            return
        if len(self.open) >= MOST_OPEN:
            del self.open[next(iter(self.open))]
        begun = self.open.setdefault(compile_id, _Open())
        if kind == stages.FRAME_STARTS:
            call = place_of_call((*seams.OF_DYNAMO, seams.OF_DEPYF))
            begun.caller = f"{os.path.basename(call[0])}:{call[1]}" if call is not None else ""
        else:
            # A list of texts is an empty string, too (`refusals.Listed`).
            entries = reversed(refusals.recompile("" if payload is None else payload).entries)
            begun.causes = tuple(clause for entry in entries for clause in entry.clauses[:1])

    def on_line(self, message: object, values: tuple[object, ...]) -> None:
        """Process a line that Dynamo logs: one of them says that a function reached a limit."""
        if not isinstance(message, str) or not message.startswith(_LIMIT) or len(values) < 4:
            return
        try:
            function = _FUNCTION.match(str(values[2]))
            if function is not None:
                name, file, line = function["name"], function["file"], int(function["line"])
                reason = str(values[3]).partition("\n")[0]
                causes = (f"{values[0]} is {values[1]}", reason)
                self.report(CompileEvent(Kind.LIMIT, "", name, file, line, causes=causes))
        except Exception as error:  # noqa: BLE001 - whatever it is, the user's program goes on
            self.failed(error)


def _event(compile_id: CompileId, begun: _Open, metrics: Mapping[str, Any]) -> CompileEvent:
    kind = Kind.RECOMPILE if begun.causes or compile_id.compile else Kind.FIRST
    return CompileEvent(
        kind,
        str(compile_id),
        str(metrics["co_name"]),
        str(metrics.get("co_filename") or ""),
        int(metrics.get("co_firstlineno") or 0),
        begun.caller,
        begun.causes,
        float(metrics.get(_TOTAL) or 0.0),
        str(metrics.get("fail_type") or ""),
    )


def _seconds(metrics: Mapping[str, Any]) -> float:
    return next((float(metrics[name]) / 1e6 for name in _BACKWARD if metrics.get(name)), 0.0)
