"""Check depyf on a GPU, in parts ordered by worth: `make gpu-check`, or this with `PYTHONPATH=src`, uninstalled.

    python -m benchmarks.gpu_check                        # on the GPU; without one, each part says that it is skipped
    python -m benchmarks.gpu_check --device cpu           # a small form of each part, to try the check itself
    python -m benchmarks.gpu_check --parts b c --again    # these parts, though `gpu.json` says that they are done

On a GPU the parts that measure no time run at once, and the others after them, one by one.

`gpu.json` in the output folder is written after each part. A second run goes on with the parts that are not done. The
exit code is 1 if a bar is not met or a part failed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.gpu_check import checks
from benchmarks.gpu_check.plan import BUDGET, PARTS, Part
from benchmarks.gpu_check.running import DONE, log, results, run_part

LEAST = 5.0
"""With fewer seconds left, no part begins."""
SKIPPED, NO_TIME = "skipped", "no time left"


def device_here() -> str:
    """Return `cuda`, or the reason why it cannot be used."""
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed"
    import torch

    return "cuda" if torch.cuda.is_available() else "torch finds no GPU here"


def run_all(parts: Sequence[Part], device: str, folder: Path, budget: float, *, again: bool) -> dict[str, Any]:
    """Run the parts that are not done, as far as the budget lasts; return the contents of `gpu.json`."""
    began = time.monotonic()
    path = folder / "gpu.json"
    known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if known.get("device") != device:
        known = {"device": device, "parts": {}}

    def ran(part: Part) -> None:
        left = budget - (time.monotonic() - began) - later * (not part.is_alone)
        entry = _ran(part, device, folder, left)
        with lock:
            known["parts"][part.letter] = entry
            path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            print(*_rows(part, entry, folder), sep="\n", flush=True)

    lock = threading.Lock()
    open_parts = [part for part in parts if again or known["parts"].get(part.letter, {}).get("state") != DONE]
    at_once = [part for part in open_parts if not part.is_alone and device == "cuda"]
    # On a GPU the others have their time after these.
    later = sum(part.seconds for part in open_parts if part.is_alone) if at_once else 0
    with ThreadPoolExecutor(max_workers=max(len(at_once), 1)) as pool:
        list(pool.map(ran, at_once))
    for part in open_parts:
        if part not in at_once:
            ran(part)
    return known


def _ran(part: Part, device: str, folder: Path, left: float) -> dict[str, Any]:
    """Return a part's entry in `gpu.json`."""
    if left < LEAST:
        return {"what": part.what, "state": NO_TIME, "seconds": 0.0, "checks": []}
    began = time.monotonic()
    state = run_part(part, device, folder, min(part.seconds, left)) if device in ("cpu", "cuda") else SKIPPED
    seconds = round(time.monotonic() - began, 1)
    found_checks = checks.read(results(folder, part)) if state != SKIPPED else []
    return {"what": part.what, "state": state, "seconds": seconds, "checks": [asdict(check) for check in found_checks]}


def _rows(part: Part, entry: dict[str, Any], folder: Path) -> list[str]:
    """Return what a part has told, and the end of its log if it failed."""
    rows = [f"== {part.letter}: {part.what}: {entry['state']}, {entry['seconds']} s"]
    rows += [f"   {checks.line(checks.Check(**check))}" for check in entry["checks"]]
    if entry["state"] not in (DONE, SKIPPED, NO_TIME):
        rows.append(f"   {entry['state']}; the last lines of {log(folder, part).name}:")
        text = log(folder, part).read_text(encoding="utf-8", errors="replace")
        rows += [f"      {row}" for row in text.splitlines()[-12:]]
    return rows


def table(content: dict[str, Any]) -> list[str]:
    """Return a row for each part: its state, its seconds, and how many bars are met."""
    rows = [f"{'part':4} {'state':12} {'seconds':>7}  bars met  what"]
    for letter, part in sorted(content["parts"].items()):
        bars = [check["met"] for check in part["checks"] if check["met"] is not None]
        met = f"{sum(bars)} of {len(bars)}"
        rows.append(f"{letter:4} {part['state']:12} {part['seconds']:7.1f}  {met:8}  {part['what']}")
    return rows


def is_good(content: dict[str, Any]) -> bool:
    """Return whether every part is done or was skipped, and every bar is met."""
    parts = content["parts"].values()
    states = {part["state"] for part in parts}
    return states <= {DONE, SKIPPED} and all(check["met"] is not False for part in parts for check in part["checks"])


def main(arguments: list[str]) -> int:
    """Run the check, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"])
    parser.add_argument("--out", type=Path, default=Path("gpu_check_output"))
    parser.add_argument("--budget", type=float, default=BUDGET, metavar="SECONDS")
    parser.add_argument("--parts", nargs="+", choices=[part.letter for part in PARTS])
    parser.add_argument("--again", action="store_true", help="run parts that are done once more")
    options = parser.parse_args(arguments)
    device = "cpu" if options.device == "cpu" else device_here()
    if options.device == "cuda" and device != "cuda":
        parser.error(device)
    folder = options.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [part for part in PARTS if not options.parts or part.letter in options.parts]
    content = run_all(chosen, device, folder, options.budget, again=options.again)
    print(*table(content), f"device: {device}; all results: {folder / 'gpu.json'}", sep="\n", flush=True)
    return int(not is_good(content))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
