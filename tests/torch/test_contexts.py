"""Contexts: nested, one after another, by hand, from threads, in a forked child; and clients that ask for graphs."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.model.run import Recompile  # noqa: E402
from depyf.torch.adapters import lacking, seams  # noqa: E402
from tests.torch import programs  # noqa: E402
from tests.torch.needs import needs  # noqa: E402


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


def transformed(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("__transformed_code_*.py"))


def compiles(directory: Path) -> list[str]:
    """Return the compile ids in order; before 2.4 torch counts on over a reset."""
    order: list[str] = json.loads((directory / "index.json").read_text(encoding="utf-8"))["order"]
    return order if seams.has_structured_trace() else [f"0/{compile_id.partition('/')[2]}" for compile_id in order]


def test_the_inner_of_two_contexts_gets_what_begins_in_it(tmp_path: Path) -> None:
    compiled = torch.compile(programs.straight, backend="eager")
    with depyf.prepare_debug(tmp_path / "outer"):
        compiled(torch.ones(3))
        with depyf.prepare_debug(tmp_path / "inner"):
            torch.compile(programs.other_program, backend="eager")(torch.ones(3))
        compiled(torch.ones(3, 3))
    assert transformed(tmp_path / "outer") == [
        "__transformed_code_0_for_straight.py",
        "__transformed_code_1_for_straight.py",
    ]
    assert transformed(tmp_path / "inner") == ["__transformed_code_0_for_other_program.py"]


def test_a_backward_joins_the_context_of_its_forward(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path / "outer"):
        result = torch.compile(programs.straight, backend="inductor")(torch.ones(3, requires_grad=True))
        with depyf.prepare_debug(tmp_path / "inner"):
            result.sum().backward()
    assert len(list((tmp_path / "outer").glob("*.kernel_*.py"))) == 2
    assert list((tmp_path / "inner").glob("*.kernel_*.py")) == []


def test_one_context_after_another_in_a_directory_tells_of_both(tmp_path: Path) -> None:
    for program in (programs.straight, programs.straight, programs.other_program):
        torch._dynamo.reset()
        context = depyf.prepare_debug(tmp_path.as_posix())
        context.__enter__()
        torch.compile(program, backend="eager")(torch.ones(3))
        context.__exit__(None, None, None)
    assert transformed(tmp_path) == [
        "__transformed_code_0_for_other_program.py",
        "__transformed_code_0_for_straight.py",
        "__transformed_code_1_for_straight.py",
    ]
    assert [compile_id.partition("#")[0] for compile_id in compiles(tmp_path)] == ["0/0"] * 3


def test_a_function_is_one_while_torch_has_the_entries_of_earlier_contexts(tmp_path: Path) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(programs.branching, backend="eager")
    calls = [tuple(torch.ones(3, dtype=dtype) for _ in "ab") for dtype in (torch.float32, torch.float64, torch.float16)]
    for directory, call in zip((tmp_path / "other", tmp_path, tmp_path), calls, strict=True):
        with depyf.prepare_debug(directory) as session:
            compiled(*call)
    (function,) = session.roots()
    assert [compiled.id.compile for compiled in function.compiles] == [1, 2]
    assert not any(compiled.gone for compiled in function.compiles)
    (resumed,) = session.resumes_of(function)
    assert [compiled.id.compile for compiled in resumed.compiles] == [1, 2]
    text = (tmp_path / function.file).read_text("utf-8")
    assert "as torch runs it: 3 entries, 1 resume function." in text
    compile(text, function.file, "exec")
    for compiled_once in (*function.compiles, *resumed.compiles):
        frame = compiled_once.id.frame
        assert [f"def guard_{frame}_{number}(" in text for number in range(3)] == [True] * 3
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        compiled(*calls[0])
    first, second = session.roots()
    assert [bool(compiled.gone) for compiled in first.compiles] == [True, True]
    assert "as torch runs it: 1 entry" in (tmp_path / second.file).read_text("utf-8")


def test_torchs_counters_may_start_anew_inside(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path) as session:
        for program in (programs.straight, programs.other_program):
            torch._dynamo.reset()
            torch.compile(program, backend="eager")(torch.ones(3))
    assert [function.name for function, _ in session.compiles()] == ["straight", "other_program"]


def threads_may_compile_at_once() -> bool:
    """Return whether torch by itself takes two threads that compile backward graphs at the same moment.

    Torch 2.9 does not.
    """
    failed: list[Exception] = []
    at_once = threading.Barrier(2)

    def work(program: Any) -> None:
        try:
            at_once.wait(60)
            torch.compile(program, backend="aot_eager")(torch.ones(3, requires_grad=True)).sum().backward()
        except Exception as error:  # noqa: BLE001 - whatever torch raises there
            failed.append(error)

    for _ in range(12):
        if failed:
            break
        torch._dynamo.reset()
        threads = [
            threading.Thread(target=work, args=(function,)) for function in (programs.straight, programs.breaking_once)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    torch._dynamo.reset()
    return not failed


def test_threads_with_contexts_of_their_own_do_not_mix(tmp_path: Path) -> None:
    chosen = {"one": programs.straight, "other": programs.breaking_once}
    both_entered = threading.Barrier(len(chosen))
    compiling = contextlib.nullcontext() if threads_may_compile_at_once() else threading.Lock()

    def work(name: str) -> None:
        with depyf.prepare_debug(tmp_path / name):
            both_entered.wait(60)
            compiled = torch.compile(chosen[name], backend="aot_eager")
            with compiling:
                result = compiled(torch.ones(3, requires_grad=True)).sum()
            with compiling:
                result.backward()

    threads = [threading.Thread(target=work, args=(name,)) for name in chosen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert transformed(tmp_path / "one") == ["__transformed_code_0_for_straight.py"]
    first, resumed = transformed(tmp_path / "other")
    assert first == "__transformed_code_0_for_breaking_once.py"
    assert resumed.startswith(f"__transformed_code_0_for_{seams.RESUME_PREFIX}breaking_once")
    assert len(list((tmp_path / "one").glob("*.Backward_graph.*.py"))) == 1
    assert len(list((tmp_path / "other").glob("*.Backward_graph.*.py"))) == 2


def test_a_thread_without_a_context_uses_the_one_there_is(tmp_path: Path) -> None:
    def work() -> None:
        torch.compile(programs.straight, backend="eager")(torch.ones(3))

    with depyf.prepare_debug(tmp_path):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert (tmp_path / "__transformed_code_0_for_straight.py").is_file()


def test_a_context_may_be_left_in_another_thread(tmp_path: Path) -> None:
    before = getattr(torch._dynamo.config, "record_runtime_overhead", None)
    context = depyf.prepare_debug(tmp_path)
    context.__enter__()
    torch.compile(programs.straight, backend="eager")(torch.ones(3))
    assert getattr(torch._dynamo.config, "record_runtime_overhead", None) == before
    thread = threading.Thread(target=context.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    assert getattr(torch._dynamo.config, "record_runtime_overhead", None) == before
    assert not (tmp_path / "depyf_problems.txt").exists()


def test_loggers_are_in_the_context_as_outside(tmp_path: Path) -> None:
    def tree() -> list[object]:
        named = [logging.getLogger(name) for name in sorted(logging.root.manager.loggerDict)]
        # Torch hands its structured trace to none but the handlers of this logger, which are not the program's.
        loggers = [logger for logger in named if logger.name != seams.TRACE_LOGGER]
        return [
            (logger.name, logger.level, logger.handlers, logger.filters, logger.propagate, logger.disabled)
            for logger in loggers
        ]

    torch.compile(programs.straight, backend="eager")(torch.ones(3))
    before = tree()
    with depyf.prepare_debug(tmp_path):
        assert tree() == before
        torch.compile(programs.breaking_once, backend="eager")(torch.ones(3))
        assert tree() == before
    assert tree() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_leaves_the_files_to_its_parent(tmp_path: Path) -> None:
    context = depyf.prepare_debug(tmp_path)
    context.__enter__()
    child = os.fork()
    if child == 0:
        try:
            context.__exit__(None, None, None)
        finally:
            os._exit(0 if not (tmp_path / "index.md").exists() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    torch.compile(programs.straight, backend="eager")(torch.ones(3))
    context.__exit__(None, None, None)
    assert compiles(tmp_path) == ["0/0"]


def test_it_is_a_decorator_too(tmp_path: Path) -> None:
    @depyf.prepare_debug(tmp_path)
    def run() -> Any:
        return torch.compile(programs.straight, backend="eager")(torch.ones(3))

    run()
    assert compiles(tmp_path) == ["0/0"]


def test_leaving_what_was_not_entered_does_nothing(tmp_path: Path) -> None:
    depyf.prepare_debug(tmp_path / "never").__exit__(None, None, None)
    assert not (tmp_path / "never").exists()


def test_a_client_that_formats_a_graph_gets_a_file_of_it(tmp_path: Path) -> None:
    from torch._dynamo.utils import lazy_format_graph_code

    code = lazy_format_graph_code.__code__

    def backend(graph: Any, _: object) -> Any:
        for name in ("before split", "before split", "after split"):
            lazy_format_graph_code(name, graph)
        return graph.forward

    with depyf.prepare_debug(tmp_path):
        torch.compile(programs.straight, backend=backend)(torch.ones(3))
        text = str(lazy_format_graph_code("loose", torch.fx.symbolic_trace(programs.straight)))
    assert lazy_format_graph_code.__code__ is code
    assert "torch.sin" in text
    stages = sorted(path.name.split(".", 1)[1] for path in tmp_path.glob("__compiled_fn_*"))
    assert stages == [
        "Captured_Graph.0.py",
        "after_split.0.py",
        "before_split.0.py",
        "before_split.1.py",
        "loose.0.py",
    ]


@needs(lacking.structured_trace())
def test_a_compile_that_no_frame_asked_for(tmp_path: Path) -> None:
    from torch._inductor.compile_fx import compile_fx

    with depyf.prepare_debug(tmp_path):
        compile_fx(torch.fx.symbolic_trace(programs.straight), [torch.ones(3)])(torch.ones(3))
    assert list(tmp_path.glob("__compiled_fn_*.Forward_graph.0.py"))
    assert list(tmp_path.glob("__compiled_fn_*.kernel_0.py"))
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "compile_fx" in page
    assert "Outside of any compiled frame" not in page


@pytest.mark.skipif(not seams.has_structured_trace(), reason="torch 2.2 itself keeps the parameters of a module alive")
def test_after_the_context_nothing_of_the_users_is_kept(tmp_path: Path) -> None:
    import gc
    import weakref

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            x = self.linear(x)
            torch._dynamo.graph_break()
            return x + 1

    net = Net()
    refs = [weakref.ref(net), weakref.ref(net.linear.weight)]
    context = depyf.prepare_debug(tmp_path)
    context.__enter__()
    torch.compile(net, backend="eager")(torch.ones(3))
    context.__exit__(None, None, None)
    del net
    torch._dynamo.reset()
    for _ in range(2):
        # A parameter outlives the first collection where torch's C++ lets go of it only then.
        gc.collect()
    assert [ref() for ref in refs] == [None, None]


@pytest.mark.skipif(not seams.has_structured_trace(), reason="before 2.4 torch counts on over a reset")
def test_compiles_before_and_after_a_reset_have_ids_of_their_own(tmp_path: Path) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    with depyf.prepare_debug(tmp_path) as session:
        for _ in range(2):
            torch._dynamo.reset()
            compiled = torch.compile(f, backend="eager")
            compiled(torch.ones(2))
            compiled(torch.ones(3))
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path):
        torch.compile(f, backend="eager")(torch.ones(2))
    assert compiles(tmp_path) == ["0/0", "0/1", "0/0#2", "0/1#2", "0/0#3"]
    compiled_all = [compiled for _, compiled in session.compiles()]
    assert [compiled.gone for compiled in compiled_all[:2]] == ["Dynamo was reset"] * 2
    triggers = [compiled.trigger for compiled in compiled_all if isinstance(compiled.trigger, Recompile)]
    assert [failed.entry for recompile in triggers for failed in recompile.entries] == ["0/0", "0/0#2"]
