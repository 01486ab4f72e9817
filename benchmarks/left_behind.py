"""Nothing is left behind: torch after a context is torch before it, whatever went wrong inside.

Each scenario is a process of its own. It runs a program without depyf, takes a picture of torch, runs the program
under `prepare_debug` while something fails, and compares both the results and the pictures.
"""

from __future__ import annotations

import contextlib
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

# Every function of depyf's that torch calls, or that a context calls while it begins, runs and ends.
HOOKS: tuple[str, ...] = ()


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


SCENARIOS: dict[str, Callable[[str], list[Tensor]]] = {
    one.__name__: one
    for one in (
        in_the_context,
        after_an_error_of_the_users_function,
        after_an_error_that_ends_the_context,
        left_by_hand,
    )
}


def problems_of(scenario: Callable[[str], list[Tensor]]) -> list[str]:
    """Return what `scenario` changes in torch or in the program's results."""
    program("aot_eager")
    with contextlib.suppress(OfTheUser):
        torch.compile(_raises_in_the_middle, backend="aot_eager")(torch.ones(3))
    expected = program("aot_eager")
    before = picture()
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        results = scenario(directory)
    left = [f"{name}: {change}" for name, change in changes(before, picture()).items()]
    same = len(results) == len(expected) and all(map(torch.equal, results, expected))
    return left + ([] if same else ["the results of the program differ"])


def _run(name: str) -> list[str]:
    if name in SCENARIOS:
        return problems_of(SCENARIOS[name])
    return problems_of(lambda directory: with_a_failing_hook(directory, name))


def measure() -> list[Bar]:
    """Run each scenario in a process of its own."""
    bars = []
    for name in (*SCENARIOS, *HOOKS):
        command = [sys.executable, "-m", "benchmarks.left_behind", name]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        problems = done.stdout.splitlines() if done.returncode == 0 else done.stderr.splitlines()[-5:]
        what = name.replace("_", " ") if name in SCENARIOS else f"an exception in {name}"
        bars.append(Bar(f"left behind: {what}", str(len(problems)), not problems, problems[:10]))
    return bars


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print("\n".join(_run(sys.argv[1])), end="")
    else:
        report(measure())
