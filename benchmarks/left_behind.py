"""Nothing is left behind: torch after a context is torch before it, whatever went wrong inside.

Each scenario is a process of its own. It runs a program without depyf, takes a picture of torch, runs the program
under `prepare_debug` while something fails, and compares both the results and the pictures.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from unittest import mock

import torch
from torch import Tensor

import depyf
from benchmarks.bar import Bar, report
from benchmarks.torch_state import changes, picture
from examples.toy_example import toy_example

# What torch calls of depyf's, at every depth at which it may fail, and what a context does when it ends.
HOOKS = (
    "depyf.torch.adapters.profiler_marks:without_marks",
    "depyf.torch.capture.active:record_compile_id",
    "depyf.torch.capture.active:seams.current_compile",
    "depyf.torch.capture.prepare:DumpContext.on_record",
    "depyf.torch.capture.prepare:DumpContext.on_code",
    "depyf.torch.capture.prepare:DumpContext.on_graph",
    "depyf.torch.capture.recorder:Recorder.record",
    "depyf.torch.capture.recorder:Recorder.end_of_context",
    "depyf.torch.capture.entries:read_new_entries",
    "depyf.torch.capture.entries:guard_set",
    "depyf.torch.capture.hooks:relate",
    "depyf.torch.capture.transform:transform",
    "depyf.torch.capture.transform:assumptions",
    "depyf.decompiler.function:decompile_function",
    "depyf.decompiler.function:recompile",
    "depyf.trace.directory:write_whole",
    "depyf.torch.dump.views:write_views",
    "depyf.torch.dump.views:render_full_code",
    "depyf.torch.dump.views:index_json",
    "depyf.torch.dump.views:index_markdown",
)

# What a context puts into torch when it begins: when that fails, it must not begin by half.
BEGINNINGS = (
    "depyf.torch.capture.active:watch_code",
    "depyf.torch.capture.active:FormatterPatch.install",
)


class Injected(Exception):
    """What a hook raises that is made to fail."""


class OfTheUser(Exception):
    """What the user's own code raises."""


def _raises_in_the_middle(a: Tensor) -> Tensor:
    b = a + 1
    torch._dynamo.graph_break()
    if b.shape[0] == 3:
        raise OfTheUser
    return b * 2


def program(backend: str) -> list[Tensor]:
    """Compile and run, with two graphs, a recompile and a backward; return all that comes out."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    compiled = torch.compile(toy_example, backend=backend)
    results = []
    for size in (10, 10, 8):
        a, b = torch.randn(size, requires_grad=True), torch.randn(size)
        for sign in (1, -1):
            out = compiled(a, sign * b.abs())
            out.sum().backward()
            assert a.grad is not None
            results += [out.detach(), a.grad.clone()]
    return results


def in_the_context(directory: str) -> list[Tensor]:
    """Run the program in a context that ends well."""
    with depyf.prepare_debug(directory):
        return program("aot_eager")


def after_an_error_of_the_users_function(directory: str) -> list[Tensor]:
    """Run the program in a context in which a compiled function raises."""
    with depyf.prepare_debug(directory):
        results = program("aot_eager")
        try:
            torch.compile(_raises_in_the_middle, backend="aot_eager")(torch.ones(3))
        except OfTheUser:
            return results
    raise AssertionError("the user's exception did not arrive")


def after_an_error_that_ends_the_context(directory: str) -> list[Tensor]:
    """Run the program in a context that an exception ends."""
    results = []
    try:
        with depyf.prepare_debug(directory):
            results = program("aot_eager")
            raise OfTheUser
    except OfTheUser:
        return results


def left_by_hand(directory: str) -> list[Tensor]:
    """Run the program in a context entered and left by hand, inside of another."""
    outer, inner = depyf.prepare_debug(directory), depyf.prepare_debug(f"{directory}/inner")
    outer.__enter__()
    inner.__enter__()
    results = program("aot_eager")
    inner.__exit__(None, None, None)
    outer.__exit__(None, None, None)
    return results


@contextlib.contextmanager
def failing(hook: str) -> Iterator[mock.Mock]:
    """Make `hook`, `module:attribute`, raise whenever it is called."""
    module, _, path = hook.partition(":")
    owner: object = importlib.import_module(module)
    *way, name = path.split(".")
    for step in way:
        owner = getattr(owner, step)
    with mock.patch.object(owner, name, side_effect=Injected(hook)) as raising:
        yield raising


def with_a_failing_hook(directory: str, hook: str) -> list[Tensor]:
    """Run the program in a context of which one hook raises."""
    with failing(hook) as raising:
        results = in_the_context(directory)
    assert raising.called, f"{hook} was never called"
    return results


def that_cannot_begin(directory: str, hook: str) -> list[Tensor]:
    """Run the program after a context that failed to begin."""
    with failing(hook) as raising, contextlib.suppress(Injected), depyf.prepare_debug(directory):
        pass
    assert raising.called, f"{hook} was never called"
    return program("aot_eager")


SCENARIOS: dict[str, Callable[[str], list[Tensor]]] = {
    task.__name__: task
    for task in (
        in_the_context,
        after_an_error_of_the_users_function,
        after_an_error_that_ends_the_context,
        left_by_hand,
    )
}


@functools.cache
def expected() -> list[Tensor]:
    """Return the program's results without depyf, after everything that it imports is there."""
    program("aot_eager")
    with contextlib.suppress(OfTheUser):
        torch.compile(_raises_in_the_middle, backend="aot_eager")(torch.ones(3))
    return program("aot_eager")


def problems_of(run: Callable[[str], list[Tensor]]) -> list[str]:
    """Return what the scenario `run` changes in torch or in the program's results."""
    wanted = expected()
    before = picture()
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        results = run(directory)
    left = [f"{name}: {change}" for name, change in changes(before, picture()).items()]
    same = len(results) == len(wanted) and all(map(torch.equal, results, wanted))
    return left + ([] if same else ["the results of the program differ"])


def scenario(name: str) -> Callable[[str], list[Tensor]]:
    """Return the scenario called `name`: one of SCENARIOS, or a hook or beginning that fails."""
    if name in SCENARIOS:
        return SCENARIOS[name]
    fails = that_cannot_begin if name in BEGINNINGS else with_a_failing_hook
    return lambda directory: fails(directory, name)


def measure() -> list[Bar]:
    """Run each scenario in a process of its own."""
    bars = []
    for name in (*SCENARIOS, *HOOKS, *BEGINNINGS):
        command = [sys.executable, "-m", "benchmarks.left_behind", name]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        problems = done.stdout.splitlines() if done.returncode == 0 else done.stderr.splitlines()[-5:]
        what = name.replace("_", " ") if name in SCENARIOS else f"an exception in {name}"
        bars.append(Bar(f"left behind: {what}", str(len(problems)), not problems, problems[:10]))
    return bars


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print("\n".join(problems_of(scenario(sys.argv[1]))), end="")
    else:
        report(measure())
