"""Which line of a function reads a value, where torch names none."""

from __future__ import annotations

import textwrap

import pytest

from depyf.findings.reasons import reason_words
from depyf.model.lines_read import LinesRead
from depyf.model.reading_lines import followed, reading_line
from depyf.model.run import Compile, CompileId, Function, Recompile
from tests.sentences import failed

SOURCE = textwrap.dedent(
    """\
    @decorated(options)
    def forward(self, x, options, scale=n):
        x = self.first(x)
        helper(options)
        if options.on and len(self.seen) > n:
            x = x * self.scale
        self.calls += 1
        for layer in self.layers:
            x = layer(x)
        other = x.sum() + kwargs["a"]
        return other
    """
)


@pytest.mark.parametrize(
    ("subject", "line"),
    [
        ("options.on", 4),
        ("options.missing", 3),
        ("n", 4),
        ("self.seen", 4),
        ("self.scale", 5),
        ("self.calls", 6),
        ("self.layers[3].training", 7),
        ("self.first.training", 2),
        ("x", 2),
        ("x.size()[0] <= 16", 2),
        ("options is self.scale", 5),
        ("kwargs['a']", 9),
        ('kwargs["a"]', 9),
        ("self.nowhere", None),
        ("other_name", None),
        ("not python at all", None),
    ],
)
def test_the_first_line_that_reads_it(subject: str, line: int | None) -> None:
    assert reading_line(subject, SOURCE) == line


def test_a_rest_of_a_function_reads_nothing_above_its_first_line() -> None:
    assert reading_line("options", SOURCE, after=4) == 4
    assert reading_line("self.scale", SOURCE, after=6) is None


def test_of_several_lambdas_none_is_chosen() -> None:
    assert reading_line("n", "f = each(\n    lambda x: x * n,\n)\n") == 1
    assert reading_line("n", "f = each(\n    lambda x: x * n,\n    lambda x: x,\n)\n") is None


def test_a_source_that_is_not_whole_has_no_lines() -> None:
    assert reading_line("x", "    x = 1)\n") is None
    assert reading_line("x", "") is None


@pytest.mark.parametrize(
    ("explained", "said"),
    [
        ('L["n"]: expected 1, got 2', "the number `n` (an argument) was 2, not 1  (:11 return x * n)"),
        ('L["n"]: expected 1, got 2  (:99 told)', "the number `n` (an argument) was 2, not 1  (:99 told)"),
        ("num_threads: expected 1, got 2", "the number of threads was 2, not 1"),
    ],
)
def test_a_line_that_torch_names_goes_first(explained: str, said: str) -> None:
    function = Function("0", "f", "train.py", 10, "def f(x, n):\n    return x * n\n", "0", parameters=("x", "n"))
    compiled = Compile(CompileId(0, 1), "f", "train.py", 10, trigger=Recompile((failed("0/0", (), (explained,)),)))
    assert reason_words(function, function, compiled) == said


def test_a_default_is_read_in_the_function_that_has_it(tmp_path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "def apply(x, activation):\n    return activation(x) * 2\n\n\n"
        "def power(\n    x,\n    exponent=2,\n):\n    return x**exponent\n"
    )
    here = LinesRead("apply", str(file), 1, (2,), (2,), (2,))
    power = LinesRead("power", str(file), 5, (9,), (9,), (9,))
    other = LinesRead("other", str(file), 5, (9,), (9,), (9,))
    assert followed("activation.__defaults__[0]", here, [here, power]) == (str(file), 9)
    assert followed("activation.__closure__[0].cell_contents", here, [here, power]) == (str(file), 9)
    assert followed("activation.__defaults__[0]", here, [here, power, other]) == (str(file), 2)


def test_an_attribute_of_a_called_object_is_read_in_its_method(tmp_path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "def run(net, x):\n    return net(x).sum()\n\n\n"
        "def forward(self, x):\n    y = x + 1\n    return y + self.shift\n"
    )
    here = LinesRead("run", str(file), 1, (2,), (2,), (2,))
    forward = LinesRead("Wave.forward", str(file), 5, (6, 7), (6, 7), (6, 7))
    unread = LinesRead("Wave.forward", str(file), 5, (6, 7), (6,), (6,))
    assert followed("net.shift", here, [here, forward]) == (str(file), 7)
    assert followed("self[0].shift", here, [here, forward]) == (str(file), 7)
    assert followed("net.shift", here, [here, unread]) == (str(file), 2)
