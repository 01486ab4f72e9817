"""Capture the first steps of a training run. The callbacks of all frameworks use it."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from depyf.integrations.numbers import PREFIX, numbers_of
from depyf.model.run import Session
from depyf.torch.capture.prepare import prepare_debug

LOG = logging.getLogger("depyf")
STEP = f"{PREFIX}step_seconds"


class StepCapture:
    """Capture what is compiled in the first steps of a run.

    After these steps nothing of depyf is left in torch, and a step costs two readings of the clock more. No method
    raises: an error inside depyf becomes a line in the log `depyf`.

    Args:
        directory: the directory of the dump. Each rank of a job writes to a folder `rank_<n>` in it.
        steps: the number of steps to capture.
        report: whether to build the report of the dump after these steps, as one file.
    """

    def __init__(self, directory: str | os.PathLike[str], steps: int = 3, report: bool = True) -> None:
        if steps < 1:
            raise ValueError(f"steps must be at least 1, not {steps}")
        self.directory = Path(directory)
        self.numbers: dict[str, float] = {}
        """The numbers of the captured steps, after the last of them."""
        self.page: Path | None = None
        """The file of the report, if it was built."""
        self.seconds: float | None = None
        """How long the last step took."""
        self._steps = steps
        self._report = report
        self._done = 0
        self._began = 0.0
        self._context: prepare_debug | None = None
        self._session: Session | None = None

    @property
    def is_active(self) -> bool:
        """Return whether the capture is going on."""
        return self._context is not None

    def begin(self) -> None:
        """Begin the capture. Call it before the first step."""
        if self._context is not None or self.numbers:
            return
        with _contained("beginning the capture"):
            context = prepare_debug(self.directory)
            self._session = context.__enter__()
            self._context = context

    def step_begins(self) -> None:
        """Note that a step begins."""
        self._began = time.perf_counter()

    def step_ends(self) -> bool:
        """Note that a step has ended; return whether it was the last captured one."""
        self.seconds = time.perf_counter() - self._began
        if self._context is None:
            return False
        self._done += 1
        return self._done >= self._steps and self.end()

    def end(self) -> bool:
        """End the capture, if it is going on, and build the report; return whether there are numbers now."""
        context, self._context = self._context, None
        if context is None:
            return False
        context.__exit__(None, None, None)
        with _contained("counting what was compiled"):
            if self._session is not None:
                self.numbers = numbers_of(self._session, self.seconds)
        with _contained("building the report"):
            if self._report and self._session is not None:
                self.page = _page(Path(self._session.directory))
        return bool(self.numbers)

    def attach(self) -> None:
        """Add the report to the active runs of MLflow and W&B, if the program uses them."""
        if self.page is None:
            return
        with _contained("attaching the report to the run of MLflow"):
            mlflow = sys.modules.get("mlflow")
            if mlflow is not None and mlflow.active_run() is not None:
                mlflow.log_artifact(str(self.page), artifact_path="depyf")
        with _contained("attaching the report to the run of W&B"):
            wandb = sys.modules.get("wandb")
            if wandb is not None and getattr(wandb, "run", None) is not None:
                artifact = wandb.Artifact("depyf", type="report")
                artifact.add_file(str(self.page))
                wandb.run.log_artifact(artifact)


def _page(directory: Path) -> Path:
    from depyf.views.html.build import build_report

    return build_report(directory, single_file=True).page


@contextlib.contextmanager
def _contained(doing: str) -> Iterator[None]:
    """Turn an error in the body into a line of the log."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the training must go on, whatever happens in what observes it
        LOG.warning("depyf: %s failed (%s: %s); the training goes on", doing, type(error).__name__, error)
