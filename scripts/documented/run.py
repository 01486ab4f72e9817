"""A page of the documentation, run: what its blocks print, and where that is not what the page shows."""

from __future__ import annotations

import difflib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.documented.blocks import Block, Command, PageError, Role, blocks, commands
from scripts.documented.compare import matches, renewed

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 900
"""Seconds that a page may take."""


def pages() -> list[Path]:
    """Return the pages that are run: README, ARCHITECTURE and all of docs, but the decisions, which are records."""
    of_site = [path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts]
    return [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted(of_site)]


@dataclass(frozen=True, slots=True)
class Output:
    """What a page shows of one step, and what the step printed; `line` is where it stands in the page."""

    line: int
    shown: str
    actual: str
    varies: bool
    went_well: bool = True

    @property
    def is_right(self) -> bool:
        """Return whether the page shows what was printed."""
        return self.went_well and matches(self.shown, self.actual, varies=self.varies)


@dataclass(slots=True)
class _Plan:
    """The steps of a page for the driver, and what is to be seen of each: None where nothing is shown."""

    steps: list[dict[str, Any]]
    expected: list[tuple[int, str | None, bool]]

    def add(self, step: dict[str, Any], line: int, shown: str | None = None, varies: bool = False) -> None:
        self.steps.append(step)
        self.expected.append((line, shown, varies))


def run_page(page: Path, text: str | None = None) -> list[Output]:
    """Run a page, and return its outputs.

    Raises:
        PageError: a block cannot be run, or one fails whose output is not shown.
    """
    text = page.read_text(encoding="utf-8") if text is None else text
    plan = _plan(blocks(text, page.name))
    if not plan.steps:
        return []
    results = _drive(plan.steps)
    outputs = []
    for (line, shown, varies), (printed, went_well) in zip(plan.expected, results, strict=True):
        if shown is not None:
            outputs.append(Output(line, shown, printed, varies, went_well))
        elif not went_well:
            raise PageError(f"{page.name}:{line}: it fails\n{printed}")
    return outputs


def _plan(page_blocks: list[Block]) -> _Plan:
    plan = _Plan([], [])
    for number, block in enumerate(page_blocks):
        below = page_blocks[number + 1] if number + 1 < len(page_blocks) else None
        match block.role:
            case Role.PYTHON:
                shown = below if below is not None and below.role is Role.OUTPUT else None
                step = {"do": "python", "text": block.text, "name": f"block_{number}.py"}
                plan.add(step, block.first_line, shown.text if shown else None, bool(shown and shown.varies))
            case Role.CONSOLE:
                for command in commands(block.text):
                    plan.add({"do": "console", "text": command.text}, block.first_line, command.shown, block.varies)
            case Role.FILE:
                plan.add({"do": "file", "text": block.text, "name": block.name}, block.first_line)
            case Role.PARSED:
                json.loads(block.text)
            case Role.ELSEWHERE:
                if not (ROOT / block.name).is_file():
                    raise PageError(f"line {block.first_line}: there is no test {block.name}")
            case Role.OUTPUT | Role.FIGURE:
                pass
    return plan


def _drive(steps: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    with tempfile.TemporaryDirectory(prefix="documented-") as scratch:
        folder = Path(scratch).resolve() / "here"
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        results = folder.parent / "results.json"
        subprocess.run(
            [sys.executable, "-m", "scripts.documented.driver", str(results)],
            cwd=folder,
            env=_environment(folder.parent),
            input=json.dumps(steps),
            text=True,
            timeout=LIMIT,
            check=True,
        )
        results_read: list[tuple[str, bool]] = json.loads(results.read_text(encoding="utf-8"))
    return [
        (printed.replace(f"{folder}/", "").replace(str(folder), "."), went_well) for printed, went_well in results_read
    ]


def _environment(scratch: Path) -> dict[str, str]:
    """Return the environment for a page: `python` and `depyf` are those of this interpreter and tree."""
    shims = scratch / "bin"
    shims.mkdir()
    for name, arguments in (("python", ""), ("depyf", "-m depyf")):
        shim = shims / name
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(shims), os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "TORCHINDUCTOR_CACHE_DIR": str(scratch / "cache"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "COLUMNS": "120",
        "NO_COLOR": "1",
    }


def difference(page: Path, output: Output) -> str:
    """Return how an output differs from what a page shows."""
    lines = difflib.unified_diff(
        output.shown.splitlines(),
        output.actual.rstrip().splitlines(),
        f"{page.name}:{output.line}",
        "real",
        lineterm="",
    )
    return "\n".join(lines)


def rewritten(text: str, outputs: list[Output]) -> str:
    """Return a page with its outputs as they are now."""
    left = list(outputs)
    lines = text.splitlines(keepends=True)
    for block in reversed(blocks(text)):
        count = block.text.count("\n")
        if block.role is Role.OUTPUT:
            output = left.pop()
            new = renewed(block.text, output.actual, varies=output.varies)
        elif block.role is Role.CONSOLE:
            shown_commands: list[Command] = list(commands(block.text))
            outputs_of = [left.pop() for _ in shown_commands][::-1]
            new = "".join(
                f"$ {command.text}{renewed(command.shown, output.actual, varies=output.varies)}"
                for command, output in zip(shown_commands, outputs_of, strict=True)
            )
        else:
            continue
        lines[block.first_line - 1 : block.first_line - 1 + count] = [new]
    return "".join(lines)
