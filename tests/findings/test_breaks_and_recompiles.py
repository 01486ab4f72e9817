"""Recompiles that follow from a graph break are a part of its finding, and a value's writer is named."""

from __future__ import annotations

import linecache

import pytest

from depyf.findings import findings
from depyf.model.failure import Failure
from depyf.model.run import Compile, CompileId, Function, GraphBreak, Session
from depyf.model.user_line import UserLine
from tests.findings.test_causes import CALL, function, run_of
from tests.findings.test_expected import again

SOURCE = """def f(x):
    begin = time.perf_counter()
    y = x + 1
    return y * (begin - 1)
"""


def with_break(line: int, text: str) -> Session:
    """Return a run of `f` with a graph break at a line, and a resume function that was compiled again."""
    root = Function("0", "f", "f.py", 1, SOURCE, "0", parameters=("x",))
    where = UserLine("f.py", line, text, "f")
    first = Compile(CompileId(0, 0), "f", "f.py", 1, user_stack=(CALL,), order=0)
    first.breaks.append(GraphBreak("Attempted to call function marked as skipped", "", (), "", where, (CALL,), 0, ""))
    root.compiles.append(first)
    rest = function(1, "torch_dynamo_resume_in_f_at_2", "f.py", (CALL,), 10, 'L["begin"]: expected 1.5, got 2.5')
    rest.root, rest.resumes_at, rest.break_line, rest.parameters = "0", 2, line, ("begin", "x")
    return run_of(root, rest)


def test_a_value_computed_before_a_break_belongs_to_the_break() -> None:
    (finding,) = findings(with_break(2, "begin = time.perf_counter()"))
    assert finding.kind == "break-time" and finding.compiles == ("0/0", "1/1")
    assert finding.cause.endswith("; 1 recompile of the rest follows from it, because `begin` differs")
    assert [other.kind for other in finding.also] == ["argument-float"]


def test_an_argument_that_differs_after_a_break_is_a_finding_of_its_own() -> None:
    session = with_break(2, "begin = time.perf_counter()")
    session.functions["0"].source = SOURCE.replace("begin = ", "stop = ")
    assert len(findings(session)) == 2


def called_by_eager(hits: tuple[int, int]) -> Session:
    """Return a run in which `outer` was given up for a break, and `block`, which it calls, was compiled again."""
    outer = Function("0", "outer", "f.py", 1, "def outer(x):\n    return block(x)\n", "0")
    where = UserLine("f.py", 9, "print(x)", "block")
    given_up = Compile(CompileId(0, 0), "outer", "f.py", 1, user_stack=(CALL,), order=0)
    given_up.failure = Failure("Unsupported", "Graph break", where)
    given_up.breaks.append(GraphBreak("builtin print", "", (), "", where, (CALL,), 0, ""))
    outer.compiles.append(given_up)
    stack = (CALL, UserLine("f.py", 2, "return block(x)", "outer"))
    block = function(1, "block", "f.py", stack, 10, "L[\"self\"].name: expected 'a', got 'b'")
    for compiled, count in zip(block.compiles, hits, strict=True):
        compiled.hits = count
    return run_of(outer, block)


@pytest.mark.parametrize(("hits", "count"), [((6, 6), 1), ((1, 1), 2)])
def test_a_function_compiled_by_itself_belongs_to_the_break_of_its_caller(hits: tuple[int, int], count: int) -> None:
    assert len(findings(called_by_eager(hits))) == count


PROGRAM = """
class Net:
    def __init__(self):
        self.tau = 1.0
SCALE = 1.0
net = Net()
for step in range(3):
    net.tau = 1 / (step + 1)
    SCALE = step
"""


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('L["self"].__dict__["tau"]', "`self.tau` is assigned at train.py:8 (`net.tau = 1 / (step + 1)`)"),
        ('G["SCALE"]', "`SCALE` is assigned at train.py:9 (`SCALE = step`)"),
        ('L["self"].__dict__["other"]', ""),
    ],
)
def test_the_only_line_that_assigns_a_value_is_named(source: str, words: str) -> None:
    linecache.cache["train.py"] = (len(PROGRAM), None, PROGRAM.splitlines(keepends=True), "train.py")
    net = function(0, "f", "f.py", (CALL,), 10, f"{source}: expected 'a', got 'b'")
    (finding,) = findings(run_of(net))
    assert (words in finding.cause) if words else ("assigned at" not in finding.cause)
    linecache.cache["train.py"] = (1, None, [*PROGRAM.splitlines(keepends=True), "net.tau = 2\n", "SCALE = 2\n"], "")
    again(net, f"{source}: expected 'b', got 'c'")
    (finding,) = findings(run_of(net))
    # A later line at the top of a module may set an attribute, and sets a global variable for the first time.
    assert ("assigned at" in finding.cause) == (words != "" and "SCALE" in words)
    del linecache.cache["train.py"]
