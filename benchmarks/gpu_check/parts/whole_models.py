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


def run(setting: Setting, results: Told) -> None:
    """Run the part: all models in the first mode, then in the second, on a device several at once."""
    if setting.is_small:
        for name in MODELS:
            one(setting, name, "", results)
        return
    jobs = [(name, mode) for mode in MODES for name in MODELS]
    with ProcessPoolExecutor(AT_ONCE, get_context("spawn")) as pool:
        running = [pool.submit(_alone, setting, *job) for job in jobs]
        for done in as_completed(running):
            for check in done.result():
                results.add(check.what, check.number, check.met, check.details)


def _alone(setting: Setting, name: str, mode: str) -> list[Check]:
    """Run a model in a process of its own, and return what it tells."""
    path = setting.folder / f"{name}-{mode}.jsonl"
    path.unlink(missing_ok=True)
    results = Told(path)
    try:
        one(setting, name, mode, results)
    except Exception as error:  # noqa: BLE001 - the other models still count
        results.add(f"{name} {mode}: it runs", type(error).__name__, False, [str(error)[:900]])
    return read(path)


def one(setting: Setting, name: str, mode: str, results: Told) -> None:
    """Capture a model in a mode, and judge its dump."""
    directory = setting.folder / f"{name}-{mode}"
    train(setting, name, mode, directory, results)
    judge(results, f"{name} {mode}".strip(), directory)
    story(f"{name} {mode}".strip(), directory, results)


def train(setting: Setting, name: str, mode: str, directory: Path, results: Told) -> None:
    """Capture some steps of a model, and compare its last loss with eager's."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model, given = MODELS[name](SMALL if setting.is_small else LARGE)
    model = model.to(setting.device).eval()
    given = tuple(tensor.to(setting.device) for tensor in given)
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
    results.add(f"{name} {mode}".strip() + ": relative distance of the loss from eager's", f"{apart:.2g}", apart < 1e-2)


def story(name: str, directory: Path, results: Told) -> None:
    """Write what the dump knows of kernels, tuning and CUDA graphs."""
    compiles = _compiles(Dump(directory).index)
    reports = [event for compiled in compiles for event in compiled["cuda_graphs"]]
    graphs = Counter(f"{event['event']}: {event['reason']}".rstrip(": ") for event in reports)
    texts = [
        (directory / artefact["file"]).read_text("utf-8") for compiled in compiles for artefact in _times(compiled)
    ]
    chosen = [
        f"{choice.operation} {choice.shapes}: {choice.best}, {choice.milliseconds} ms" for choice in choices(texts)
    ]
    tuned = sum(bool(_times(compiled)) for compiled in compiles)
    files = [path for path in Dump(directory).python_files() if path.parent == directory]
    texts = [path.read_text(encoding="utf-8") for path in files]
    kernels = sum(text.count("@triton_heuristics.") for text in texts)
    results.add(f"{name}: kernels of Triton's in the dump", kernels)
    results.add(f"{name}: compiles with tuning", f"{tuned} of {len(compiles)}")
    results.add(f"{name}: choices between kernels", len(chosen), None, chosen)
    details = [f"{number} x {what}" for what, number in graphs.most_common()]
    results.add(f"{name}: reports on CUDA graphs", sum(graphs.values()), None, details)


def _times(compiled: dict[str, Any]) -> list[dict[str, Any]]:
    return [artefact for artefact in compiled["artefacts"] if artefact["stage"] == TIMES]


def _compiles(index: dict[str, Any]) -> list[dict[str, Any]]:
    functions = [*index["functions"], *(resume for root in index["functions"] for resume in root["resume_functions"])]
    return [{"cuda_graphs": [], **compiled} for function in functions for compiled in function["compiles"]]
