"""A tracker for Accelerate, which captures the first steps between its logs."""

from __future__ import annotations

import os
from typing import Any

from accelerate.tracking import GeneralTracker

from depyf.integrations.capture import STEP, StepCapture


class DepyfTracker(GeneralTracker):
    """Capture the first steps of a loop, and log what was compiled to the other trackers.

        tracker = DepyfTracker("depyf_output")
        accelerator = Accelerator(log_with=["tensorboard", tracker], project_dir="logs")
        accelerator.init_trackers("run")
        tracker.follow(accelerator)

    A call of `accelerator.log(values, step=...)` ends a step. After the captured steps, the other trackers get the
    numbers `depyf/compiles`, `depyf/recompiles`, `depyf/graph_breaks`, `depyf/failures`, `depyf/eager_calls`,
    `depyf/compile_seconds` and `depyf/step_seconds`. The report is attached to the runs of MLflow and W&B. Accelerate
    calls trackers on the main process only, so the dump of a job has rank 0; `depyf run` captures all ranks.

    Args:
        directory: the directory of the dump.
        steps: the number of steps to capture.
        report: whether to build the report, as one file.
    """

    name = "depyf"
    requires_logging_directory = False
    main_process_only = True

    def __init__(
        self, directory: str | os.PathLike[str] = "depyf_output", steps: int = 3, report: bool = True
    ) -> None:
        super().__init__()
        self.capture = StepCapture(directory, steps, report)
        self._accelerator: Any = None

    @property
    def tracker(self) -> StepCapture:
        """Return the capture."""
        return self.capture

    def follow(self, accelerator: Any) -> None:
        """Log the numbers to the other trackers of an accelerator."""
        self._accelerator = accelerator

    def start(self) -> None:
        """Begin the capture."""
        if not self.capture.is_active:
            self.capture.begin()
            self.capture.step_begins()

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        """Begin the capture, if this Accelerate does not call `start`. The dump has no configuration."""
        self.start()

    def log(self, values: dict[str, Any], step: int | None = None, **kwargs: Any) -> None:
        """End a step. After the last captured one, log the numbers."""
        if self.capture.step_ends():
            self._tell(self.capture.numbers, step)
        elif not self.capture.is_active and self.capture.seconds is not None:
            self._tell({STEP: self.capture.seconds}, step)
        self.capture.step_begins()

    def finish(self) -> None:
        """End the capture of a loop with fewer steps."""
        if self.capture.end():
            self._tell(self.capture.numbers, None)

    def _tell(self, numbers: dict[str, float], step: int | None) -> None:
        accelerator = self._accelerator
        if accelerator is None or not accelerator.is_main_process:
            return
        for tracker in accelerator.trackers:
            if tracker is not self:
                tracker.log(numbers, step=step)
        self.capture.attach()
