"""A process that measures its compiles: `python -m depyf.fix.savings_child PLAN`. It runs a program with edited texts.

Nothing but the clock is imported before it begins, so that it sees the imports of the program.
"""

from __future__ import annotations

import builtins
import functools
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

from depyf.trace.start_clock import StartClock, processor_time


class _ProcessorClock(StartClock):
    """A clock that reads the time of the processor, which is zero when the process begins."""

    def before(self) -> int | None:
        return self.began


def main(file: str) -> None:
    """Run the program of a plan. Its exceptions and its exit code are those of this process."""
    from depyf.fix.savings_plan import read_timed_plan

    plan = read_timed_plan(Path(file))
    now = processor_time if plan.by_processor else time.perf_counter_ns
    clock = _ProcessorClock(now) if plan.by_processor else StartClock()
    clock.begin()

    import torch

    from depyf.fix.child import prepare_process
    from depyf.fix.results import Enough, Recorder
    from depyf.fix.savings_plan import WATCHED, write_sites
    from depyf.fix.served import run_main
    from depyf.torch.capture.compile_times import CompileTiming
    from depyf.torch.capture.options import DumpOptions
    from depyf.torch.capture.prepare import prepare_debug

    texts = prepare_process(plan)
    recorder = Recorder(plan.calls, plan.stops)
    if not plan.watches:
        recorder.install()
    setattr(builtins, WATCHED, recorder.watched_module)
    sites = _Sites()
    torch.compile = sites.noting(torch.compile)
    timing = CompileTiming(clock, now)
    try:
        with prepare_debug.with_options(str(plan.dump), DumpOptions(keep_index=True)) as session:
            timing.begin()
            try:
                run_main(plan.target, texts, is_module=plan.is_module)
            finally:
                timing.end()
    except Enough:
        pass
    finally:
        if session.functions:
            timing.write(session)
        write_sites(Path(plan.folder), sites.sites)
        recorder.write(plan.record)


class _Sites:
    """Notes where `torch.compile` is called, and for which code."""

    def __init__(self) -> None:
        from depyf.fix.savings_plan import Site

        self.sites: list[Site] = []
        self._make = Site

    def noting(self, original: Any) -> Any:  # noqa: ANN401 - torch's own function
        """Return `torch.compile` with a note of each call."""

        @functools.wraps(original)
        def noted(model: Any = None, **options: Any) -> Any:  # noqa: ANN401 - as torch's own
            frame = sys._getframe(1)
            if model is None:
                return lambda given: self._noted(original(given, **options), given, frame)
            return self._noted(original(model, **options), model, frame)

        return noted

    def _noted(self, compiled: object, model: object, frame: FrameType | None) -> object:
        import torch

        owner = getattr(model, "__self__", model)
        is_module = isinstance(owner, torch.nn.Module)
        while frame is not None and Path(frame.f_code.co_filename).is_relative_to(Path(torch.__file__).parent):
            frame = frame.f_back  # the method `compile` of a module
        target: object = owner.forward if isinstance(owner, torch.nn.Module) else model
        code = getattr(getattr(target, "__func__", target), "__code__", None)
        if frame is not None and code is not None:
            place = frame.f_code.co_filename, frame.f_lineno
            self.sites.append(self._make(*place, code.co_filename, code.co_firstlineno, is_module))
        return compiled


if __name__ == "__main__":
    main(sys.argv[1])
