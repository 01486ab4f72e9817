"""Graphs, AOTAutograd's wrappers and Inductor's run from the files of a dump while debugging."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.torch.adapters import interpreted, other_code, seams  # noqa: E402
from depyf.torch.capture.reachable import reachable_functions  # noqa: E402
from depyf.torch.dump.told import TOLD  # noqa: E402
from depyf.torch.stepping.steppable import SourceFile  # noqa: E402
from depyf.torch.stepping.stepping import find_steps, running_from_files  # noqa: E402
from tests.torch.debuggers.places import places_of  # noqa: E402
from tests.torch.debuggers.stepped import stepped  # noqa: E402


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


@contextmanager
def lines_run(directory: Path) -> Iterator[dict[str, set[int]]]:
    """Note the lines that run in the files of a directory."""
    seen: dict[str, set[int]] = {}

    def trace(frame: types.FrameType, event: str, argument: object) -> object:
        path = Path(frame.f_code.co_filename)
        if path.parent != directory:
            return None
        if event == "line":
            seen.setdefault(path.name, set()).add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield seen
    finally:
        sys.settrace(before)


def program() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.full((4,), 3.0, requires_grad=True), torch.ones(4)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_each_kind_of_file_is_run_through(backend: str, tmp_path: Path) -> None:
    compiled = torch.compile(stepped, backend=backend)
    a, b = program()
    with depyf.prepare_debug(tmp_path, install=not other_code.is_there()):
        compiled(a, b).sum().backward()
    expected, a.grad = a.grad, None
    # On this thread: autograd runs the backward of CPU tensors in the thread that asks for it.
    with depyf.debug(pause=False), lines_run(tmp_path) as seen:
        compiled(a, b).sum().backward()
    assert torch.equal(a.grad, expected)
    for place in places_of(backend):
        path, line = place.find(tmp_path)
        assert line in seen.get(path.name, set()), place


def test_nothing_is_left_of_it(tmp_path: Path) -> None:
    compiled = torch.compile(stepped, backend="aot_eager")
    a, b = program()
    with depyf.prepare_debug(tmp_path):
        compiled(a, b).sum().backward()
    steps = [find_steps(live, tmp_path) for live in TOLD[tmp_path].live]
    functions = [file.function for step in steps for file in step.files]
    codes = [function.__code__ for function in functions]
    assert codes
    with pytest.raises(KeyError), running_from_files(steps):
        assert all(function.__code__ is not code for function, code in zip(functions, codes, strict=True))
        raise KeyError
    assert all(function.__code__ is code for function, code in zip(functions, codes, strict=True))


def test_a_file_that_is_another_program_is_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled = torch.compile(stepped, backend="eager")
    a, b = program()
    with depyf.prepare_debug(tmp_path):
        expected = compiled(a, b)
    path = next(path for path in tmp_path.glob("*.Captured_Graph.0.py") if "abs_1 + 1" in path.read_text("utf-8"))
    path.write_text(path.read_text(encoding="utf-8").replace("abs_1 + 1", "abs_1 + 2"), encoding="utf-8")
    with depyf.debug(pause=False), lines_run(tmp_path) as seen:
        assert torch.equal(compiled(a, b), expected)
    assert path.name not in seen
    assert str(path) not in capsys.readouterr().out


def test_what_torch_has_dropped_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with depyf.prepare_debug(tmp_path):
        torch.compile(stepped, backend="eager")(*program())
    torch._dynamo.reset()
    with depyf.debug(pause=False):
        pass
    output = capsys.readouterr().out
    assert "2 other compiles: dropped by torch since, nothing runs there" in output
    assert f"break at {tmp_path}" not in output


def test_only_what_is_proven_the_same_can_be_stepped(tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    path.write_text("class A:\n    def f(self, x):\n        y: 'int' = x + 1\n        return y\n", encoding="utf-8")
    file = SourceFile(path)

    def f(self, x):
        y = x + 1
        return y

    steppable = file.steppable(f)
    assert steppable is not None
    assert (steppable.code.co_filename, steppable.line) == (str(path), 3)

    def f(self, x):  # type: ignore[no-redef]  # the name is what is looked for
        y = x + 2
        return y

    assert file.steppable(f) is None


def test_arguments_in_a_list_are_taken_out_in_the_lines_of_the_parameters(tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    path.write_text("def f(self, x,\n      y):\n    z = x + y\n    return z\n", encoding="utf-8")

    def f(self, boxed):
        arguments = iter(boxed)
        x = next(arguments)
        y = next(arguments)
        z = x + y
        return z

    steppable = SourceFile(path).steppable(f)
    assert steppable is not None
    assert {line for _, _, line in steppable.code.co_lines() if line is not None} >= {1, 2, 3, 4}
    f.__code__ = steppable.code
    assert f(None, [1, 2]) == 3


def test_the_walk_ends_and_does_not_enter_the_users_objects() -> None:
    class Mine:
        def __init__(self) -> None:
            self.inner = lambda: 1

    holder: list[object] = []
    mine = Mine()

    def outer() -> object:
        return mine, holder

    holder.append(outer)
    functions = list(reachable_functions(outer))
    assert functions == [outer]


def test_a_graph_that_torch_interprets_is_called_instead() -> None:
    graph = torch.fx.symbolic_trace(lambda x, y: x * y + 1)

    def interpreting(fx_g):
        def run(args):
            return torch.fx.Interpreter(fx_g).boxed_run(args)

        return run

    run = interpreting(graph)
    assert interpreted.graph_of(run) is graph
    assert interpreted.graph_of(interpreting(None)) is None
    given = [torch.ones(2), torch.ones(2)]
    expected = run(list(given))
    run.__code__ = interpreted.calling(run)
    graph.forward = lambda x, y: x * y + 2  # type: ignore[method-assign]  # only a call of the graph's code sees it
    assert torch.equal(run(given), expected + 1)
    assert given == [], "as the interpreter does"


def test_nothing_is_compiled_inside(tmp_path: Path) -> None:
    def scaled(x, n):
        return x * n

    compiled = torch.compile(scaled, backend="eager", dynamic=False)
    with depyf.prepare_debug(tmp_path):
        compiled(torch.ones(3), 2)
    with depyf.debug(pause=False):
        assert torch.equal(compiled(torch.ones(3), 5), torch.full((3,), 5.0))
    assert len(seams.cache_entries(scaled.__code__)) == 1
    compiled(torch.ones(3), 5)
    assert len(seams.cache_entries(scaled.__code__)) == 2


def test_what_was_compiled_before_is_stepped_and_nothing_of_it_is_seen_outside(tmp_path: Path) -> None:
    def calls(x, n):
        torch._dynamo.graph_break()
        return x * n

    compiled = torch.compile(calls, backend="eager", dynamic=False)
    x = torch.ones(2)
    with depyf.prepare_debug(tmp_path):
        for n in (2, 3):
            compiled(x, n)
    entries = seams.cache_entries(calls.__code__)
    assert {entry.code.co_filename for entry in entries} == {__file__}
    with depyf.debug(pause=False), lines_run(tmp_path) as seen:
        for n in (2, 3):
            assert torch.equal(compiled(x, n), x * n)
        assert torch.equal(compiled(x, 5), x * 5)
    stepped_files = {name for name in seen if name.startswith("__transformed_code")}
    if not other_code.is_there():
        assert stepped_files == set()
        return
    assert "__transformed_code_0_for_calls.py" in stepped_files
    assert len(stepped_files) == 3
    with lines_run(tmp_path) as seen:
        compiled(x, 3)
    assert not any(name.startswith("__transformed_code") for name in seen)
