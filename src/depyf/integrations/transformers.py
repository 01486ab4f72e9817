"""A callback for the Trainer of transformers."""

from __future__ import annotations

import os
import sys
from typing import Any

from transformers import TrainerCallback

from depyf.integrations.capture import STEP, StepCapture


class DepyfCallback(TrainerCallback):
    """Capture the first steps of a Trainer, and log what was compiled to its loggers.

        trainer = Trainer(..., callbacks=[DepyfCallback("depyf_output")])

    The numbers (`depyf/compiles`, `depyf/recompiles`, `depyf/graph_breaks`, `depyf/failures`, `depyf/eager_calls`,
    `depyf/compile_seconds`) are part of the first log after the captured steps, `depyf/step_seconds` of every log. So
    TensorBoard, MLflow, W&B and `trainer.state.log_history` have them. The report is attached to the runs of MLflow
    and W&B.

    Args:
        directory: the directory of the dump.
        steps: the number of optimizer steps to capture.
        report: whether to build the report, as one file.
    """

    def __init__(
        self, directory: str | os.PathLike[str] = "depyf_output", steps: int = 3, report: bool = True
    ) -> None:
        self.capture = StepCapture(directory, steps, report)
        self._pending: dict[str, float] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin the capture, before the callbacks that log.

        Args:
            args: the training arguments.
            state: the state of the trainer.
            control: the switches that callbacks may set.
        """
        _put_first(self, sys._getframe(1).f_locals.get("self"))
        self.capture.begin()

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Note that a step begins.

        Args:
            args: the training arguments.
            state: the state of the trainer.
            control: the switches that callbacks may set.
        """
        self.capture.step_begins()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """End the capture after the last captured step, and have the numbers logged now.

        Args:
            args: the training arguments.
            state: the state of the trainer.
            control: the switches that callbacks may set; `should_log` is set here.
        """
        if self.capture.step_ends():
            self._pending = dict(self.capture.numbers)
            control.should_log = True

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Add the numbers to what is logged.

        Args:
            args: the training arguments.
            state: the state of the trainer, whose log gets the numbers, too.
            control: the switches that callbacks may set.
            logs: the numbers to log, which are changed.
        """
        if logs is None:
            return
        added = {**self._pending, **({STEP: self.capture.seconds} if self.capture.seconds is not None else {})}
        logs.update(added)
        if state.log_history and state.log_history[-1].get("step") == state.global_step:
            state.log_history[-1].update(added)
        if self._pending and state.is_world_process_zero:
            self.capture.attach()
        self._pending = {}

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """End the capture of a training with fewer steps; the numbers are in `capture.numbers` then.

        Args:
            args: the training arguments.
            state: the state of the trainer.
            control: the switches that callbacks may set.
        """
        if self.capture.end() and state.is_world_process_zero:
            self.capture.attach()


def _put_first(callback: DepyfCallback, handler: object) -> None:
    """Put a callback before the callbacks that log, because they write what the callbacks before them left.

    A Trainer puts its loggers before the callbacks of its caller, and passes no reference to the list to callbacks. The
    handler that calls them has it.
    """
    callbacks = getattr(handler, "callbacks", None)
    if isinstance(callbacks, list) and callback in callbacks:
        callbacks.remove(callback)
        callbacks.insert(0, callback)
