"""`make demo`: run the toy example under `prepare_debug`, and show what the compiler made of it.

    python scripts/demo.py [--backend inductor] [--out depyf_output]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Two kernels are compiled faster than a pool of workers starts.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
# A graph that comes from a cache comes without the passes that made it, and all of them are to be seen.
os.environ.setdefault("TORCHINDUCTOR_FX_GRAPH_CACHE", "0")
os.environ.setdefault("TORCHINDUCTOR_AUTOGRAD_CACHE", "0")

CALLS = 100


def main() -> None:
    """Run the example; print what to change, and the code of the first compile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--out", type=Path, default=Path("depyf_output"), help="made anew")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.out, ignore_errors=True)
    _run(arguments.backend, arguments.out)
    index = json.loads((arguments.out / "index.json").read_text(encoding="utf-8"))
    first = first_file(index)
    _print("findings", [line for finding in index["findings"] for line in finding_lines(finding)])
    _print(first, (arguments.out / first).read_text(encoding="utf-8").splitlines())
    print(f"\n{sum(path.is_file() for path in arguments.out.rglob('*'))} files in {arguments.out}; begin with index.md")


def _print(title: str, lines: list[str]) -> None:
    print(f"\n{title}\n")
    for line in lines:
        print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent="  ") if len(line) > 110 else f"  {line}")


def _run(backend: str, out: Path) -> None:
    import depyf
    from examples import toy_example

    print(f"examples/toy_example.py: {CALLS} calls with random inputs, backend {backend}", flush=True)
    with depyf.prepare_debug(out):
        toy_example.main(backend, CALLS)


def finding_lines(finding: dict[str, Any]) -> list[str]:
    """Return the cause of a finding with its place, and what to do about it."""
    where = finding["where"]
    place = f" ({where['file']}:{where['line']})" if where else ""
    fix = [f"  fix: {finding['fix']}"] if finding["fix"] else []
    return [f"{finding['severity']}: {finding['cause']}{place}", *fix]


def _functions(index: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every function with the words for it: its name, or where of a function it goes on."""
    for root in index["functions"]:
        yield root["name"], root
        for resume in root["resume_functions"]:
            yield f"{root['name']}, from line {resume['resumes_at']}", resume


def first_file(index: dict[str, Any]) -> str:
    """Return the file of the transformed code of the first compile."""
    transformed = {
        compiled["id"]: compiled["transformed"]
        for _, function in _functions(index)
        for compiled in function["compiles"]
    }
    return next(
        str(transformed[compile_id]["file"]) for compile_id in index["order"] if "file" in transformed[compile_id]
    )


if __name__ == "__main__":
    main()
