"""Run one part in a process of its own, which ends at its limit with everything that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from benchmarks.gpu_check.plan import Part

ROOT = Path(__file__).resolve().parents[2]
DONE, FAILED, LATE = "done", "failed", "late"


def run_part(part: Part, device: str, folder: Path, seconds: float) -> str:
    """Run a part; return whether it is done, failed, or was stopped at its limit. Its output is in a log."""
    room = folder / part.letter
    room.mkdir(parents=True, exist_ok=True)
    results(folder, part).unlink(missing_ok=True)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.gpu_check.worker", part.module, device]
    command += [str(room), str(results(folder, part)), str(seconds)]
    with log(folder, part).open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=_environment(room, device),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return LATE
        finally:
            _end(process)
    return DONE if code == 0 else FAILED


def results(folder: Path, part: Part) -> Path:
    """Return the file with the checks of a part."""
    return folder / f"{part.letter}.jsonl"


def log(folder: Path, part: Part) -> Path:
    """Return the file with the output of a part."""
    return folder / f"{part.letter}.log"


def _environment(room: Path, device: str) -> dict[str, str]:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "HF_HUB_OFFLINE": "1"}
    if device == "cpu":
        # The threads of a shared machine wait for each other far longer than they compute.
        environment["OMP_NUM_THREADS"] = "1"
    # No kernel of another part, or of an earlier run, is in this cache.
    return environment | {"TORCHINDUCTOR_CACHE_DIR": str(room / "cache"), "TRITON_CACHE_DIR": str(room / "triton")}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the part's session: the workers of Inductor's pool outlive it otherwise."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
