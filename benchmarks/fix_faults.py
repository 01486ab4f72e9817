"""Does `depyf fix` end, report, and leave the user's files alone if the program harms its own process?

    python -m benchmarks.fix_faults [--faults TEXT]

Twelve faults, each at five moments: before torch is imported, before the first call, between calls, after them, and
only in a run with edits. A run is good if `depyf fix` ends in time with a report and without a traceback of its own,
and no file but its own two is new or different.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """import linecache, os, resource, signal, sys, threading, time
{first}
import torch


def f(x):
    y = x * 2
    torch._dynamo.graph_break()
    return y + 1


step = torch.compile(f, backend="eager")
{before}
step(torch.ones(3))
{between}
step(torch.ones(3))
{after}
if "    torch._dynamo.graph_break()\\n" not in linecache.getlines(__file__):
    {edited}
print("done", flush=True)
"""
MOMENTS = ("first", "before", "between", "after", "edited")
FAULTS = {
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "hangs": "time.sleep(900)",
    "ignores signals and hangs": "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(900)",
    "fills the disk": "resource.setrlimit(resource.RLIMIT_FSIZE, (9999, 9999)); open('big', 'wb').write(bytes(99999))",
    "takes all memory": "resource.setrlimit(resource.RLIMIT_DATA, (2**31, 2**31)); bytearray(2**33)",
    "forks": "os.fork() or time.sleep(900)",
    "changes directory": "os.makedirs('made', exist_ok=True); os.chdir('made'); open('here', 'w').write('x')",
    "reads stdin": "sys.stdin.read()",
    "a thread that stays": "threading.Thread(target=time.sleep, args=(900,), daemon=True).start()",
    "overwrites itself": "open(os.path.basename(__file__), 'w').write('gone')",
    "removes everything here": "[os.remove(each) for each in os.listdir('.') if os.path.isfile(each)]",
    "closes its output": "os.close(1)",
}
LIMIT = 20.0
"""The seconds of a run; a good run of the program takes a few."""


def problem(fault: str, moment: str) -> str:
    """Fix a program with a fault; return what is wrong with how that ended, or ""."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        text = PROGRAM.format(**{point: FAULTS[fault] if point == moment else "pass" for point in MOMENTS})
        program.write_text(text, encoding="utf-8")
        command = [sys.executable, "-W", "ignore", "-m", "depyf", "fix", "--limit", str(LIMIT), program.name]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=12 * LIMIT)
        except subprocess.TimeoutExpired:
            return "it hangs"
        if not done.stdout.startswith("run as it is: "):
            return f"no report: {done.stderr[-200:]}"
        if "Traceback" in done.stderr:
            return f"an error of its own: {done.stderr[-200:]}"
        others = {path.name for path in Path(folder).iterdir()} - {"fix.json", "depyf_fix.patch"}
        if others != {program.name} or program.read_text(encoding="utf-8") != text:
            return f"files: {sorted(others)}"
        return ""


def main() -> int:
    """Print the numbers; the exit code is 1 if a run is not good."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", default="", metavar="TEXT", help="only faults with TEXT in their name")
    options = parser.parse_args()
    wrong = count = 0
    for fault in (name for name in FAULTS if options.faults in name):
        for moment in MOMENTS:
            said = problem(fault, moment)
            count += 1
            wrong += bool(said)
            print(f"{fault}, {moment}: {said or 'good'}", flush=True)
    print(f"faults after which it hangs, reports nothing or touches a file: {wrong} of {count}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
