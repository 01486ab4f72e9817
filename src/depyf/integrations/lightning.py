"""A callback for the Trainer of Lightning."""

from __future__ import annotations

import os
from typing import Any

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback  # the package of the same classes, without the rest of Lightning

from depyf.integrations.capture import STEP, StepCapture


class DepyfCallback(Callback):
    """Capture the first batches of a Trainer, and log what was compiled to its loggers.

        trainer = Trainer(..., callbacks=[DepyfCallback("depyf_output")])

    After the captured batches, each logger of the trainer gets the numbers `depyf/compiles`, `depyf/recompiles`,
    `depyf/graph_breaks`, `depyf/failures`, `depyf/eager_calls` and `depyf/compile_seconds`, and then
    `depyf/step_seconds` as often as the trainer logs. The report is attached to the runs of MLflow and W&B.

    Args:
        directory: the directory of the dump.
        steps: the number of batches to capture.
        report: whether to build the report, as one file.
    """

    def __init__(
        self, directory: str | os.PathLike[str] = "depyf_output", steps: int = 3, report: bool = True
    ) -> None:
        self.capture = StepCapture(directory, steps, report)

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin the capture, before the check of the validation data."""
        self.capture.begin()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Note that a step begins.

        Args:
            trainer: Lightning's trainer.
            pl_module: the model.
            batch: the data of the step.
            batch_idx: the number of the step in its epoch.
        """
        self.capture.step_begins()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """End the capture after the last captured batch, and log.

        Args:
            trainer: Lightning's trainer, whose loggers get the numbers.
            pl_module: the model.
            outputs: the result of the step.
            batch: the data of the step.
            batch_idx: the number of the step in its epoch.
        """
        if self.capture.step_ends():
            self._log(trainer, self.capture.numbers)
        elif not self.capture.is_active and trainer.log_every_n_steps and self.capture.seconds is not None:
            if trainer.global_step % trainer.log_every_n_steps == 0:
                for logger in trainer.loggers:
                    logger.log_metrics({STEP: self.capture.seconds}, step=trainer.global_step)

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """End the capture of a fit with fewer batches."""
        self._end(trainer)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """End the capture, so that the dump shows what led to the exception.

        Args:
            trainer: Lightning's trainer, whose loggers get the numbers.
            pl_module: the model.
            exception: the exception that ended the training.
        """
        self._end(trainer)

    def _end(self, trainer: Any) -> None:
        if self.capture.end():
            self._log(trainer, self.capture.numbers)

    def _log(self, trainer: Any, numbers: dict[str, float]) -> None:
        for logger in trainer.loggers:
            logger.log_metrics(numbers, step=trainer.global_step)
        if trainer.is_global_zero:
            self.capture.attach()
