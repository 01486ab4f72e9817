"""The first kernel and line whose bits differ: 80 planted differences, and 80 programs whose bits are equal.

    python -m benchmarks.bits                        # Triton's programs run if triton is installed
    python -m benchmarks.bits --only cpp_order       # the programs whose names begin so
    python -m benchmarks.bits --results FILE         # keep results in a file, and continue a run that ended
    python -m benchmarks.bits --no-restore           # without the settings that restore equal bits

The programs are those of `corpus/planted_bits.py`, which says for each where the first difference lies. Whether a
planted line gives other bits on this machine is found without depyf: the function runs plain and compiled. A line that
does not is left out. A setting that depyf reports is tried on the whole program again, also without depyf.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch._inductor.config
from torch import Tensor
from torch.utils import _pytree

import depyf
from benchmarks.bar import MOST_DETAILS, Bar, report
from corpus.planted_bits import Program, equal_programs, programs
from depyf.torch.bits.trials import all_of
from depyf.torch.kernels.interpreter import interpreting

LEAST, KERNEL_PERCENT, LINE_PERCENT, RESTORED_PERCENT = 80, 95, 90, 85
_DISABLE = "torch.compiler.disable"


def values_of(function: Callable[..., Any], inputs: list[Any]) -> list[Tensor]:
    """Return the results of a function and the gradients of its inputs."""
    given = [value.detach().clone().requires_grad_(value.requires_grad) for value in inputs]
    torch.manual_seed(0)
    results = [value for value in _pytree.tree_leaves(function(*given)) if isinstance(value, Tensor)]
    leaves = [value for value in given if value.requires_grad]
    total = [value.sum() for value in results if value.requires_grad]
    gradients = torch.autograd.grad(torch.stack([value.double() for value in total]).sum(), leaves) if leaves else ()
    return [*results, *gradients]


def has_equal_bits(ours: list[Tensor], theirs: list[Tensor]) -> bool:
    """Return whether two runs gave the same bits. All NaN count as one value."""
    return all(_is_same(left.detach(), right.detach()) for left, right in zip(ours, theirs, strict=True))


def _is_same(left: Tensor, right: Tensor) -> bool:
    same = (left == right) & (left.signbit() == right.signbit()) | (left.isnan() & right.isnan())
    return left.dtype == right.dtype and bool(same.all())


def compiled_values(function: Callable[..., Any], inputs: list[Any], settings: dict[str, Any]) -> list[Tensor]:
    """Return the results of a function that Inductor compiles with some settings."""
    torch._dynamo.reset()
    with all_of(settings)():
        return values_of(torch.compile(function), inputs)


def disabled(program: Program) -> str:
    """Return a program whose planted line runs outside the compiled code."""
    row = program.row.plant
    names = ", ".join(name for name in (*program.specifications, "y") if name not in ("x", "p", "c"))
    text = program.text.replace(f"{row}  # planted", f"z = _plain({names})")
    plain = f"_plain = torch.compiler.disable(lambda {names}: {row.removeprefix('z = ')})"
    return text.replace("\n\ndef f", f"\n{plain}\n\n\ndef f")


def is_restored(program: Program, setting: str, folder: Path) -> bool:
    """Return whether the whole program has eager's bits with a setting that depyf reports."""
    inputs = program.inputs(exact=False)
    function, settings = program.function(folder), dict(program.row.settings)
    eager = values_of(function, inputs)
    if setting.startswith(_DISABLE):
        text, path = disabled(program), folder / f"{program.name}_disabled.py"
        path.write_text(text)
        names: dict[str, Any] = {"__name__": path.stem}
        exec(compile(text, str(path), "exec"), names)
        function = names["f"]
    elif setting.startswith("without "):
        del settings[setting.removeprefix("without ").partition("=")[0]]
    elif setting.startswith("torch.use_deterministic"):
        settings["deterministic_algorithms"] = True
    else:
        name, _, value = setting.partition("=")
        settings[name] = eval(value)  # noqa: S307 - a literal that depyf printed
    return has_equal_bits(compiled_values(function, inputs, settings), eager)


def outcome(program: Program, folder: Path, *, exact: bool, restore: bool) -> dict[str, Any]:
    """Return what depyf reports for a program, and what is known about it without depyf."""
    function, inputs = program.function(folder), program.inputs(exact=exact)
    settings = program.settings(exact=exact)
    eager = values_of(function, inputs)
    is_equal = has_equal_bits(compiled_values(function, inputs, settings), eager)
    result: dict[str, Any] = {"name": program.name, "exact": exact, "equal": is_equal}
    if not exact and is_equal:
        return result
    began = time.perf_counter()
    torch._dynamo.reset()
    run = depyf.first_difference(torch.compile(function), settings=settings, restore=restore and not exact)
    bits_report = run(*(value.detach().clone().requires_grad_(value.requires_grad) for value in inputs))
    first = bits_report.first
    result.update(
        seconds=time.perf_counter() - began,
        told=bool(bits_report.results_different or first),
        compared=len(bits_report.results_compared),
        kernel=first.kernel if first else "",
        part=first.part if first else "",
        line=first.where.line if first and first.where else 0,
        cause=first.cause if first else "",
        right_kernel=first is not None and program.row.kernel in first.kernel and first.part == program.part,
        right_line=first is not None and first.where is not None and first.where.line == program.line,
        settings=[attempt.setting for attempt in bits_report.restored],
        failed=[f"{attempt.setting}: {attempt.failed}" for attempt in bits_report.tried if attempt.failed],
        not_compared=bits_report.not_compared,
    )
    result["restores"] = [is_restored(program, setting, folder) for setting in result["settings"]]
    return result


def cases(only: str) -> Iterator[tuple[Program, bool]]:
    """Yield the programs to run, each with whether it runs on exact values."""
    has_triton = importlib.util.find_spec("triton") is not None
    wanted = [(program, False) for program in programs()] + [(program, True) for program in equal_programs()]
    for program, exact in wanted:
        if program.name.startswith(only) and (has_triton or not program.triton):
            yield program, exact


def measure(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Run the programs, and return the outcomes."""
    kept = Path(options.results) if options.results else folder / "results"
    results = [json.loads(row) for row in kept.read_text().splitlines()] if kept.exists() else []
    done = {(result["name"], result["exact"]) for result in results}
    for program, exact in cases(options.only):
        if (program.name, exact) in done or (options.exact is not None and exact != options.exact):
            continue
        with ExitStack() as stack:
            stack.enter_context(mock.patch("depyf.torch.bits.first.MOST_RESTORED", 1))
            if program.triton:
                stack.enter_context(interpreting())
                stack.enter_context(torch._inductor.config.patch(cpu_backend="triton"))
            try:
                result = outcome(program, folder, exact=exact, restore=not options.no_restore)
            except Exception as error:  # noqa: BLE001 - the outcome of a program that fails is its error
                result = {"name": program.name, "exact": exact, "error": f"{type(error).__name__}: {error}"[:300]}
        results.append(result)
        with kept.open("a") as file:
            file.write(json.dumps(result, default=str) + "\n")
        print(json.dumps(result, default=str), file=sys.stderr, flush=True)
    return results


def bars(results: list[dict[str, Any]], *, restore: bool) -> list[Bar]:
    """Return the bars over the outcomes."""
    errors = [f"{result['name']}: {result['error']}" for result in results if "error" in result]
    good = [result for result in results if "error" not in result]
    planted = [result for result in good if not result["exact"] and not result["equal"]]
    same = [result for result in good if result["exact"] and result["equal"]]
    left = [result["name"] for result in good if result["exact"] != result["equal"]]
    note = f"left out: {len(left)} programs whose line is not as planted here"
    false_reports = [f"{result['name']}: {result['kernel']}" for result in same if result["told"]]
    idle = [result["name"] for result in same if not result["compared"]]
    yield_of = [
        _share("bits: the right kernel", planted, "right_kernel", KERNEL_PERCENT, note),
        _share("bits: the right line", planted, "right_line", LINE_PERCENT),
        Bar(
            "bits: differences in equal pairs",
            f"{len(false_reports)} of {len(same)}",
            not false_reports and not idle,
            false_reports + idle,
        ),
        Bar("bits: programs that fail", f"{len(errors)} of {len(results)}", not errors, errors[:MOST_DETAILS]),
    ]
    if restore:
        confirmed = [{**result, "restored": any(result["restores"])} for result in planted]
        wrong = [f"{result['name']}: {result['settings']}" for result in planted if not all(result["restores"])]
        yield_of += [
            _share("bits: a setting restores equal bits", confirmed, "restored", RESTORED_PERCENT),
            Bar("bits: settings that do not restore", f"{len(wrong)} of {len(planted)}", not wrong, wrong),
        ]
    return yield_of


def _share(what: str, planted: list[dict[str, Any]], key: str, percent: int, note: str = "") -> Bar:
    right = sum(result[key] for result in planted)
    wrong = [
        f"{result['name']}: {result['kernel']} ({result['part']}), line {result['line']}, {result['cause']}"
        for result in planted
        if not result[key]
    ]
    is_met = len(planted) >= LEAST and right * 100 >= len(planted) * percent
    return Bar(what, f"{right} of {len(planted)}", is_met, wrong[:MOST_DETAILS], note)


def main() -> None:
    """Print the bars."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bits")
    parser.add_argument("--only", default="", help="programs whose names begin so")
    parser.add_argument("--results", help="a file that keeps the outcomes")
    parser.add_argument("--no-restore", action="store_true")
    parser.add_argument(
        "--exact", type=lambda text: text == "yes", help="only programs on exact values (yes), or not (no)"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as scratch:
        results = measure(options, Path(scratch))
    report(bars(results, restore=not options.no_restore))


if __name__ == "__main__":
    main()
