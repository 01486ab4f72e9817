"""Part h: the contract tests, as far as time is left; a test that needs a package that is not here does not count."""

from __future__ import annotations

import re
import subprocess
import sys

from benchmarks.gpu_check.checks import Setting, Told

ROOMS = ("tests/torch", "tests/links", "tests/findings", "tests/views", "tests/model")
SMALL_ROOMS = ("tests/trace/test_cuda_graphs.py",)
_PROGRESS = re.compile(r"^\[gw\d+\] \[ *\d+%\] (PASSED|FAILED|SKIPPED|ERROR) (\S+)", re.MULTILINE)
_LACKING = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")


def run(setting: Setting, results: Told) -> None:
    """Run the part. What has run by its limit counts."""
    log = setting.folder / "pytest.txt"
    rooms = SMALL_ROOMS if setting.is_small else ROOMS
    options = ["-v", "-n", "1" if setting.is_small else "8", "--tb=line", "-p", "no:cacheprovider", "-m", "not slow"]
    command = [sys.executable, "-W", "ignore", "-m", "pytest", *options, "--continue-on-collection-errors", *rooms]
    ended = "all tests ran"
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            process.wait(timeout=max(setting.seconds - 8, 2))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            ended = "stopped at the limit"
    text = log.read_text(encoding="utf-8", errors="replace")
    outcomes = _PROGRESS.findall(text)
    failed = sorted({test for state, test in outcomes if state in ("FAILED", "ERROR")})
    results.none_of(f"contract tests that fail ({ended})", failed, len(outcomes))
    lacking = sorted(set(_LACKING.findall(text)))
    results.add("packages that some tests need and that are not here", len(lacking), None, lacking)
