"""The process of one try: `python -m depyf.fix.child PLAN`. It runs the program with edited texts and records it."""

from __future__ import annotations

import os
import random
import sys
from contextlib import nullcontext
from pathlib import Path

from depyf.fix.plan import Plan, read_plan
from depyf.fix.served import run_main, serve


def main(file: str) -> None:
    """Run the program of a plan. Its exceptions and its exit code are those of this process."""
    _run(read_plan(Path(file)))


def prepare_process(plan: Plan) -> dict[str, str]:
    """Make this process that of the program: arguments, path, seeds, edited texts. Return the texts by real path."""
    import torch

    # pytest would read test files itself, to rewrite their assertions, and so miss the edited text.
    first = ["--assert=plain", "-p", "no:cacheprovider"] if plan.is_pytest else []
    sys.argv = [plan.target, *first, *plan.arguments]
    sys.path[0] = os.getcwd() if plan.is_module else str(Path(plan.target).resolve().parent)
    _seed(torch)
    texts = {os.path.realpath(path): text for path, text in plan.texts.items()}
    serve(texts)
    return texts


def _run(plan: Plan) -> None:
    import torch

    from depyf.fix.results import Enough, Recorder
    from depyf.torch.adapters.forced_backend import force_backend
    from depyf.torch.capture.prepare import prepare_debug

    texts = prepare_process(plan)
    if plan.backend:
        force_backend(plan.backend, refuse=_refuse)
    recorder = Recorder(plan.calls, plan.stops)
    recorder.install()
    if plan.is_eager:
        torch.compiler.set_stance("force_eager")
    try:
        with nullcontext() if plan.is_eager else prepare_debug(str(plan.dump)):
            run_main(plan.target, texts, is_module=plan.is_module)
    except Enough:
        pass
    finally:
        recorder.write(plan.record)


def _refuse(message: str) -> None:
    """End the process, since torch has no backend of the name."""
    print(message, file=sys.stderr)
    sys.exit(2)


def _seed(torch: object) -> None:
    """Seed all generators, so that two runs of a program that does not do so itself can be compared."""
    random.seed(0)
    torch.manual_seed(0)  # type: ignore[attr-defined]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


if __name__ == "__main__":
    main(sys.argv[1])
