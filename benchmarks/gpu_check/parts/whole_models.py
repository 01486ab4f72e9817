"""Part b: five models, forward and backward: their story, kernels, tuning, and CUDA graphs."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

import depyf
from benchmarks.dump import Dump
from benchmarks.gpu_check.checks import Check, Setting, Told, read
from benchmarks.gpu_check.dumps import judge, wait
from benchmarks.gpu_check.models import LARGE, MODELS, SMALL, loss_of
from depyf.model.tuning import TIMES, choices

MODES = ("reduce-overhead", "max-autotune-no-cudagraphs")
STEPS = 4
AT_ONCE = 5


def run(setting: Setting, told: Told) -> None:
    """Run the part: all models in the first mode, then in the second, on a device several at once."""
    if setting.is_small:
        for name in MODELS:
            one(setting, name, "", told)
        return
    jobs = [(name, mode) for mode in MODES for name in MODELS]
    with ProcessPoolExecutor(AT_ONCE, get_context("spawn")) as pool:
        running = [pool.submit(_alone, setting, *job) for job in jobs]
        for done in as_completed(running):
            for check in done.result():
                told.add(check.what, check.number, check.met, check.details)


def _alone(setting: Setting, name: str, mode: str) -> list[Check]:
    """Run a model in a process of its own, and return what it tells."""
    path = setting.folder / f"{name}-{mode}.jsonl"
    path.unlink(missing_ok=True)
    told = Told(path)
    try:
        one(setting, name, mode, told)
    except Exception as error:  # noqa: BLE001 - the other models still count
        told.add(f"{name} {mode}: it runs", type(error).__name__, False, [str(error)[:900]])
    return read(path)


def one(setting: Setting, name: str, mode: str, told: Told) -> None:
    """Capture a model in a mode, and judge its dump."""
    directory = setting.folder / f"{name}-{mode}"
    train(setting, name, mode, directory, told)
    judge(told, f"{name} {mode}".strip(), directory)
    story(f"{name} {mode}".strip(), directory, told)


def train(setting: Setting, name: str, mode: str, directory: Path, told: Told) -> None:
    """Capture some steps of a model, and compare its last loss with eager's."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model, given = MODELS[name](SMALL if setting.is_small else LARGE)
    model = model.to(setting.device).eval()
    given = tuple(each.to(setting.device) for each in given)
    eager = loss_of(model(*given)).item()
    options: dict[str, Any] = {"mode": mode} if mode else {}
    compiled = torch.compile(model, backend=setting.backend, **options)
    # By default Dynamo leaves a frame with a recurrent network as it is.
    recurrent = torch._dynamo.config.patch(allow_rnn=True) if name == "lstm" else nullcontext()
    with recurrent, depyf.prepare_debug(directory):
        for _ in range(STEPS):
            if mode == "reduce-overhead":
                torch.compiler.cudagraph_mark_step_begin()
            loss = loss_of(compiled(*given))
            loss.backward()
            model.zero_grad()
            value = loss.item()
        wait(setting)
    apart = abs(value - eager) / max(abs(eager), 1e-9)
    told.add(f"{name} {mode}".strip() + ": relative distance of the loss from eager's", f"{apart:.2g}", apart < 1e-2)


def story(name: str, directory: Path, told: Told) -> None:
    """Write what the dump knows of kernels, tuning and CUDA graphs."""
    compiles = _compiles(Dump(directory).index)
    reports = [each for one in compiles for each in one["cuda_graphs"]]
    graphs = Counter(f"{each['event']}: {each['reason']}".rstrip(": ") for each in reports)
    texts = [(directory / each["file"]).read_text("utf-8") for one in compiles for each in _times(one)]
    chosen = [f"{each.operation} {each.shapes}: {each.best}, {each.milliseconds} ms" for each in choices(texts)]
    tuned = sum(bool(_times(one)) for one in compiles)
    files = [path for path in Dump(directory).python_files() if path.parent == directory]
    texts = [path.read_text(encoding="utf-8") for path in files]
    kernels = sum(text.count("@triton_heuristics.") for text in texts)
    told.add(f"{name}: kernels of Triton's in the dump", kernels)
    told.add(f"{name}: compiles with tuning", f"{tuned} of {len(compiles)}")
    told.add(f"{name}: choices between kernels", len(chosen), None, chosen)
    details = [f"{number} x {what}" for what, number in graphs.most_common()]
    told.add(f"{name}: reports on CUDA graphs", sum(graphs.values()), None, details)


def _times(compiled: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in compiled["artefacts"] if each["stage"] == TIMES]


def _compiles(index: dict[str, Any]) -> list[dict[str, Any]]:
    functions = [*index["functions"], *(each for one in index["functions"] for each in one["resume_functions"])]
    return [{"cuda_graphs": [], **one} for function in functions for one in function["compiles"]]
