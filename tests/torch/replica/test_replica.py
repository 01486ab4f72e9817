"""The text of a full code, run in the process: the same entries, the same values, the same effects as torch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NoReturn

import pytest
import torch

import depyf.decompiler.function
from depyf.errors import DecompilationError
from depyf.torch.adapters import lacking
from depyf.torch.capture import live
from depyf.torch.replica.replica import Replica
from tests.torch.needs import needs
from tests.torch.replica import replicated
from tests.torch.replica.replicated import make_cell, make_closure, ones

EVAL_FRAME: Any = torch._C._dynamo.eval_frame
TELLS = hasattr(EVAL_FRAME, "set_bytecode_debugger_callback")
"""Whether torch tells which entry it runs; it does since 2.12."""

with_ids = needs(lacking.compile_ids())

Call = tuple[tuple[Any, ...], dict[str, Any]]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


def call(*args: Any, **kwargs: Any) -> Call:
    return args, kwargs


@contextlib.contextmanager
def entries_that_run(replica: Replica, ran: list[str]) -> Iterator[None]:
    """Note the compile ids of the entries that torch itself runs."""
    # By identity: torch puts constants into code objects that have no hash.
    names = {
        id(entry.code): live.compile_id(entry)
        for function in replica.functions
        for entry in live.entries(function.code)
    }
    if not TELLS:
        yield
        return
    before = EVAL_FRAME.get_bytecode_debugger_callback()
    # A function that the program calls after a graph break is compiled for itself, and has a replica of its own.
    EVAL_FRAME.set_bytecode_debugger_callback(lambda code: ran.append(names[id(code)]) if id(code) in names else None)
    try:
        yield
    finally:
        EVAL_FRAME.set_bytecode_debugger_callback(before)


PROGRAMS: dict[str, tuple[Any, list[Call]]] = {
    "branches": (replicated.branches, [call(a * ones(3), b * ones(3)) for a in (1, -1) for b in (1, -1)]),
    "prints": (replicated.prints, [call(ones(3)), call(ones(3) * 2)]),
    "stars": (
        replicated.stars,
        [
            call(ones(3)),
            call(ones(3), 1, ones(3)),
            call(ones(3), flag=True, scale=2),
            call(ones(3), 1, flag=True, other=ones(1)),
        ],
    ),
    "defaults": (replicated.defaults, [call(ones(3)), call(ones(3), 4, 1.5), call(ones(3), m=2.5, k=9)]),
    "nested": (replicated.nested, [call(ones(3)), call(ones(2))]),
    "with_block": (replicated.with_block, [call(ones(3)), call(ones(3).requires_grad_())]),
    "reserved_names": (replicated.guard, [call(ones(3))]),
    "lambda": (replicated.lambda_function, [call(ones(3)), call(ones(2, 2))]),
    "sized": (replicated.sized, [call(ones(n)) for n in (2, 3, 4, 5)]),
    "closure": (make_closure(2.5), [call(ones(3)), call(ones(4))]),
    "cell": (make_cell(), [call(ones(3)), call(ones(4))]),
    "method": (replicated.Thing().method, [call(ones(3)), call(ones(2))]),
    "module": (replicated.Model(), [call(ones(2, 4)), call(-ones(2, 4)), call(ones(2, 4), scale=5.0)]),
}


# The decompiler has no source yet for lambdas, and for code that handles cells and other code objects as values.
WITH_SOURCE = sorted(PROGRAMS.keys() - {"lambda", "nested", "closure", "cell"})


def without_source(code: CodeType, **options: bool) -> NoReturn:
    raise DecompilationError("no source", code=code.co_name)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", WITH_SOURCE)
def test_same_entries_and_values(name: str, backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    replica = check(*PROGRAMS[name], backend, capsys)
    assert any(entry.source for function in replica.functions for entry in function.entries)


@pytest.mark.parametrize("name", PROGRAMS)
def test_dynamo_s_code_where_there_is_no_source(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(depyf.decompiler.function, "decompile_function", without_source)
    replica = check(*PROGRAMS[name], "eager", capsys)
    assert "Dynamo's own bytecode runs, which has no source here (UNPROVEN: " in replica.text


def check(function: Any, calls: list[Call], backend: str, capsys: pytest.CaptureFixture[str]) -> Replica:
    """Compile and call a function, and compare each call with the replica's."""
    compiled = torch.compile(function, backend=backend)
    # Twice: a closure that counts its calls has an entry for each of the first numbers, then one for all.
    for args, kwargs in [*calls, *calls, *calls]:
        compiled(*args, **kwargs)
    replica = Replica(compiled)
    compile(replica.text, "<full code>", "exec")
    for args, kwargs in calls:
        state = _state(function)
        capsys.readouterr()
        ran: list[str] = []
        with entries_that_run(replica, ran):
            expected = compiled(*args, **kwargs)
        printed = capsys.readouterr().out
        _restore(function, state)
        order = [live.order(function.code)() for function in replica.functions]
        result = replica(*args, **kwargs)
        never_compiled = {
            called
            for function, called in zip(replica.functions, replica.full_code.functions, strict=True)
            if not function.entries
        }
        if TELLS:
            assert [served.entry for served in replica.served if served.function not in never_compiled] == ran
        assert torch.equal(result, expected)
        assert result.requires_grad == expected.requires_grad
        assert capsys.readouterr().out == printed
        assert [live.order(function.code)() for function in replica.functions] == order, (
            "torch's own cache was disturbed"
        )
    return replica


def _state(function: Any) -> list[Any]:
    return [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]


def _restore(function: Any, state: list[Any]) -> None:
    for cell, value in zip(getattr(function, "__closure__", None) or (), state, strict=True):
        cell.cell_contents = value


@pytest.fixture
def dynamo_s_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depyf.decompiler.function, "decompile_function", without_source)


@pytest.mark.parametrize("function", [replicated.counts, replicated.counts_and_asks])
def test_globals_that_the_code_assigns_are_the_program_s(function: Callable[..., Any]) -> None:
    compiled = torch.compile(function, backend="eager", dynamic=True)
    for count in range(3):
        replicated.COUNT = count
        compiled(ones(3))
    replica = Replica(compiled)
    for before in range(3):
        replicated.COUNT = before
        ran: list[str] = []
        with entries_that_run(replica, ran):
            expected = compiled(ones(3))
        assert replicated.COUNT == before + 1
        replicated.COUNT = before
        result = replica(ones(3))
        assert replicated.COUNT == before + 1
        assert torch.equal(result, expected)
        assert len(replica.served) == 2
        assert not TELLS or [served.entry for served in replica.served] == ran


def test_effects_on_objects_happen_once_and_in_order() -> None:
    compiled = torch.compile(replicated.appends, backend="eager")
    compiled(ones(3))
    replica = Replica(compiled)
    replicated.SEEN.clear()
    replica(ones(3))
    assert replicated.SEEN == ["before", "after"]


@pytest.mark.usefixtures("dynamo_s_code")
def test_free_variables_are_those_of_the_function() -> None:
    closure = make_closure(2.0)
    compiled = torch.compile(closure, backend="eager", dynamic=True)
    for _ in range(4):
        compiled(ones(3))
    replica = Replica(compiled)
    calls = dict(zip(closure.__code__.co_freevars, closure.__closure__ or (), strict=True))["calls"]
    assert calls.cell_contents == 4
    replica(ones(3))
    assert calls.cell_contents == 5


def test_nothing_of_the_program_s_module_changes() -> None:
    compiled = torch.compile(replicated.branches, backend="eager")
    compiled(ones(3), ones(3))
    before = dict(vars(replicated))
    Replica(compiled)(ones(3), ones(3))
    assert dict(vars(replicated)) == before


@with_ids
def test_the_entry_used_last_is_asked_first() -> None:
    compiled = torch.compile(replicated.both, backend="eager")
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
        first, second = ones(5), ones(5)
        torch._dynamo.mark_dynamic(first, 0)
        torch._dynamo.mark_dynamic(second, 0)
        compiled(first, ones(3))
        compiled(ones(4), second)
    replica = Replica(compiled)
    assert [len(function.entries) for function in replica.functions] == [2]
    served = []
    for sizes in [(4, 3), (6, 3), (4, 3), (4, 6), (4, 3)]:
        inputs = [ones(size) for size in sizes]
        chosen = replica.which(*inputs).entry
        ran: list[str] = []
        with entries_that_run(replica, ran):
            compiled(*inputs)
        assert not TELLS or ran == [chosen]
        served.append(chosen)
    assert served == ["0/1", "0/0", "0/0", "0/1", "0/1"]


@with_ids
@needs(lacking.guarded_types())
def test_no_entry_fits() -> None:
    compiled = torch.compile(replicated.sized, backend="eager", dynamic=False)
    compiled(ones(4))
    replica = Replica(compiled)
    x = torch.arange(6.0, dtype=torch.float64)
    choice = replica.which(x)
    assert choice.entry is None
    assert [(failure.check.value, failure.expected, failure.actual) for failure in choice.failures["0/0"]] == [
        ("dtype", "torch.float32", "torch.float64"),
        ("size", "(4,)", "(6,)"),
    ]
    assert "no entry fits, torch would compile a new one" in str(choice)
    assert torch.equal(replica(x), x * 6)
    assert replica.served[0].entry is None
    assert len(live.entries(replicated.sized.__code__)) == 1


@with_ids
def test_an_entry_that_torch_drops_is_not_used() -> None:
    compiled = torch.compile(replicated.sized, backend="eager")
    compiled(ones(4))
    replica = Replica(compiled)
    assert replica.which(ones(4)).entry == "0/0"
    torch._dynamo.reset()
    assert replica.which(ones(4)).entry is None


@pytest.mark.parametrize("wrong", [3, "text", torch.sin, None])
def test_what_is_no_compiled_function_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="expected a compiled function, method or module"):
        Replica(wrong)


def test_a_function_that_was_never_compiled_is_refused() -> None:
    with pytest.raises(ValueError, match="has no compiled entries"):
        Replica(replicated.prints)


def many(count: int) -> tuple[Callable[..., Any], Replica]:
    compiled = torch.compile(replicated.many_branches(count), backend="eager")
    compiled(ones(3) * 100)
    compiled(ones(3) * -100)
    return compiled, Replica(compiled)


def test_the_text_grows_linearly_with_the_branches() -> None:
    sizes = [len(many(count)[1].text) for count in (2, 4, 8)]
    assert sizes[2] - sizes[1] < 2.5 * (sizes[1] - sizes[0])
