"""Which lines run in graphs, between them, eager, and never."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from torch._dynamo.variables import functions  # noqa: E402 - after the check that torch is there

import depyf  # noqa: E402
from depyf.findings import findings  # noqa: E402
from depyf.links.line_states import FunctionLines, line_states  # noqa: E402
from depyf.model.index_reader import read_run  # noqa: E402
from depyf.model.run import Unavailable  # noqa: E402
from depyf.torch.adapters import lacking  # noqa: E402
from depyf.torch.adapters.lines_read import reading_of, watch_lines  # noqa: E402
from tests.torch.needs import needs  # noqa: E402

pytestmark = needs(lacking.structured_trace())


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.is_plain = True

    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2  # graph
        if self.is_plain:  # graph
            return y  # graph
        return y + 1  # never

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layer(x)  # graph
        if x.shape[0] > 100:  # graph
            x = x * 3  # never
        print("", end="")  # between
        x = self.scaled(x)  # graph
        return x + 1  # graph


def looped(x: torch.Tensor) -> torch.Tensor:
    for _ in range(2):  # eager
        x = x + 1  # eager
        print("", end="")  # eager
    return x  # eager


class Recurrent(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = torch.nn.LSTM(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.sin() + 1  # graph
        output, _ = self.rnn(x)  # between
        output = output * 2  # eager
        return output.sum()  # eager


def marked(function: object) -> dict[int, str]:
    """Return the lines of a function that say what runs them, by the words at their ends."""
    lines, first = inspect.getsourcelines(function)  # type: ignore[arg-type]
    return {first + number: text.split("# ")[1].strip() for number, text in enumerate(lines) if "# " in text}


def told(functions: list[FunctionLines], name: str) -> dict[int, str]:
    (function,) = (candidate for candidate in functions if candidate.plain_name == name)
    return {line: state.value for line, state in function.states.items()}


def test_the_rest_after_a_break_without_a_resume_function_runs_eagerly(tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(Recurrent(), backend="eager")(torch.ones(2, 3, 4))
    (compiled,) = (compiled for _, compiled in session.compiles())
    if not compiled.breaks or compiled.resumes:
        pytest.skip("this torch resumes after a break at an LSTM, or does not break there")
    assert told(line_states(session), "forward") == marked(Recurrent.forward)


def test_each_line_says_what_runs_it(tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(Net(), backend="eager")(torch.ones(2, 4))
        torch.compile(looped, backend="eager")(torch.ones(2))
    for shown_functions in (line_states(session), line_states(read_run(tmp_path).session)):
        assert told(shown_functions, "forward") == marked(Net.forward)
        assert told(shown_functions, "scaled") == marked(Net.scaled)
        assert told(shown_functions, "looped") == marked(looped)
    (forward,) = (function for function in line_states(session) if function.plain_name == "forward")
    assert forward.words.startswith("67 % of the 6 lines of `") and "1 between graphs, 1 never" in forward.words
    assert "67 % of the 6 lines" in (tmp_path / "index.md").read_text(encoding="utf-8")


def given(x: torch.Tensor) -> Iterator[torch.Tensor]:
    y = x + 1
    yield y
    yield y * 2


def taken(x: torch.Tensor) -> torch.Tensor:
    both = given(x)
    first = next(both)
    second = next(both)
    return first + second


@pytest.mark.parametrize("called", [taken, lambda x: given_by(x) + given_by(x)], ids=["generator", "twice"])
def test_each_line_that_calls_a_function_is_known(called: Callable[..., object]) -> None:
    torch._dynamo.reset()
    end = watch_lines()
    assert not isinstance(end, Unavailable)
    try:
        torch.compile(called, backend="eager")(torch.ones(2))
        reading = reading_of(called.__code__)
    finally:
        end()
    assert reading is not None
    first = called.__code__.co_firstlineno
    lines = {line - first for (_, line), of in reading.calls().items() if of & {given.__code__, given_by.__code__}}
    # Before 2.7 Dynamo reads a generator at once, where it is made.
    goes_on = hasattr(functions, "LocalGeneratorObjectVariable") and called is taken
    assert {2, 3} <= lines <= {1, 2, 3, 4} if goes_on else lines <= {0, 1} and lines


def given_by(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def test_torch_is_as_before(tmp_path: Path) -> None:
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

    before = InstructionTranslatorBase.starts_line
    with depyf.prepare_debug(tmp_path):
        assert InstructionTranslatorBase.starts_line is not before
    assert InstructionTranslatorBase.starts_line is before


class Counting(torch.nn.Module):
    """Counts its calls in a method that decides something by the count."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 5

    def count(self) -> float:
        self.calls += 1
        return 2.0 if self.calls > 100 else 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.count()


def test_the_values_that_decide_branches_of_inlined_functions_are_in_the_dump_of_a_recompile(tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        compiled = torch.compile(Counting(), backend="eager")
        for _ in range(4):
            compiled(torch.ones(3))
    read = read_run(tmp_path).session
    first, again, *_ = (compiled.lines for _, compiled in read.compiles())
    assert [line.deciding for line in first] == [(), ()]
    assert [line.deciding for line in again] == [(), ("self", "self.calls")]
    assert findings(read) == findings(session)
