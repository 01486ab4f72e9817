"""Where compile time goes, measured while torch compiles."""

from __future__ import annotations

import gc
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo import symbolic_convert
from torch._inductor import config as inductor_config

from depyf.model.compile_times import CompileTimes, FunctionTimes, function_times, module_times, read_times
from depyf.torch.adapters import compile_steps
from depyf.torch.adapters.unheard import LISTENERS
from depyf.torch.capture.compile_times import CompileTiming
from depyf.torch.capture.prepare import prepare_debug
from depyf.views.compile_times import compile_times_text

HERE = __file__


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + activation(self.linear(x))


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(Block() for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x.sum()


def activation(x: torch.Tensor) -> torch.Tensor:
    for _ in range(40):
        x = x * 2
    return torch.relu(x)


def measured(directory: Path, run: Callable[[], object], now: Callable[[], int] = time.perf_counter_ns) -> CompileTimes:
    torch._dynamo.reset()
    torch._dynamo.utils.clear_compilation_metrics()
    with prepare_debug(directory) as session:
        timing = CompileTiming(now=now)
        timing.begin()
        try:
            run()
        finally:
            timing.end()
    timing.write(session)
    times = read_times(directory)
    assert times is not None
    return times


def trained(backend: str) -> Callable[[], object]:
    compiled = torch.compile(Model(), backend=backend)
    return lambda: compiled(torch.randn(4, 8)).backward()


def named(times: CompileTimes, name: str) -> FunctionTimes:
    return next(function for function in function_times(times) if function.key[2] == name)


def line_of(text: str) -> int:
    lines = Path(HERE).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip() == text)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_the_cells_add_up_to_the_time_of_compiling(tmp_path: Path, backend: str) -> None:
    times = measured(tmp_path, trained(backend))
    metrics = torch._dynamo.utils.get_compilation_metrics()
    spent = sum((metric.duration_us or 0) / 1e6 for metric in metrics)
    (stages,) = times.by_compile().values()
    assert spent and abs(sum(stages.values()) - spent) < 0.05 * spent
    assert times.by_stage()["not attributed"] < 0.05 * times.seconds
    assert not times.unavailable
    assert set(times.by_compile()) == {"0/0"}


def test_a_line_has_the_time_of_what_it_calls_in_torch_but_not_of_functions_of_the_user(tmp_path: Path) -> None:
    # Not the time of other processes.
    times = measured(tmp_path, trained("aot_eager"), time.thread_time_ns)
    first = named(times, "activation")
    assert first.traced == 4
    assert first.key[1] == line_of("def activation(x: torch.Tensor) -> torch.Tensor:")
    product = first.lines[(line_of("x = x * 2"),)]
    assert product["tracing"] > 0.5 * first.exclusive["tracing"]
    assert product["joint graph"] > 0.5 * first.exclusive["joint graph"]
    block = named(times, "Block.forward")
    assert sum(block.total.values()) >= first.seconds + block.seconds - 1e-6
    assert block.seconds < first.seconds
    modules = {module.path: module for module in module_times(times)}
    assert modules["layers.0"].kind == "Block"
    assert modules["layers.0.linear"].kind == "Linear"
    for index in range(4):
        assert modules[f"layers.{index}"].seconds > modules[f"layers.{index}.linear"].seconds


def test_it_agrees_with_the_profiler_of_dynamo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profiler = pytest.importorskip("torch._dynamo.dynamo_profiler", reason="this torch has no profiler of Dynamo")
    timings: dict[int, Any] = {}

    def keep(state: Any, *_: object) -> None:
        timings.update((id(timing), timing) for timing in state.timings)

    monkeypatch.setattr(profiler.DynamoProfilerState, "dump_stats", keep)
    with torch._dynamo.config.patch(dynamo_profiler=True):
        times = measured(tmp_path, trained("eager"))
    theirs = sum(timing.tottime_ns for timing in timings.values() if timing.func_name == "activation") / 1e9
    ours = sum(
        cell.seconds
        for cell in times.cells
        if cell.stage in ("tracing", "garbage collection", "imports")
        and times.places[cell.place].function == "activation"
    )
    assert abs(ours - theirs) < 0.1 * theirs


def slow(x: torch.Tensor) -> torch.Tensor:
    return x.clone()  # is lowered


def test_a_slow_decomposition_is_charged_to_the_line_that_needs_it(tmp_path: Path) -> None:
    clock = itertools.count()
    waited: list[int] = []

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        from torch._dynamo.backends.common import aot_autograd

        def compiler(lowered: torch.fx.GraphModule, _: object) -> torch.fx.GraphModule:
            return lowered

        def waits(x: torch.Tensor, **_: object) -> torch.Tensor:
            waited.append(1_500_000_000)
            return x + 0

        return aot_autograd(fw_compiler=compiler, decompositions={torch.ops.aten.clone.default: waits})(graph, inputs)

    def program(x: torch.Tensor) -> torch.Tensor:
        return slow(x.sin()).cos()

    # Nothing but the decomposition takes more than a nanosecond from one look at the clock to the next.
    compiled = torch.compile(program, backend=backend)
    times = measured(tmp_path, lambda: compiled(torch.randn(4)), lambda: next(clock) + sum(waited))
    function_of_name = named(times, "slow")
    assert function_times(times)[0] == function_of_name
    assert len(waited) >= 1 and 0 <= function_of_name.seconds - 1.5 * len(waited) < 0.01
    assert list(function_of_name.lines)[0] == (line_of("return x.clone()  # is lowered"),)
    assert f"line {line_of('return x.clone()  # is lowered')}" in "\n".join(compile_times_text(times))


def test_a_function_that_continues_after_a_break_has_one_row(tmp_path: Path) -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        x = activation(x)
        torch._dynamo.graph_break()
        return activation(x)

    times = measured(tmp_path, lambda: torch.compile(broken, backend="eager")(torch.randn(4)))
    assert [function.key[2] for function in function_times(times)].count("broken") == 1
    assert named(times, "activation").traced >= 2


def test_equal_blocks_are_added_up(tmp_path: Path) -> None:
    times = measured(tmp_path, trained("eager"))
    (repetition,) = times.repetitions
    assert (repetition.first, repetition.last, repetition.kind, repetition.blocks) == (
        "layers.0",
        "layers.3",
        "Block",
        4,
    )
    blocks = {module.path: module.seconds for module in module_times(times)}
    assert repetition.seconds == pytest.approx(sum(blocks[f"layers.{number}"] for number in range(4)), rel=1e-3)
    assert repetition.again == pytest.approx(repetition.seconds - blocks["layers.0"], rel=1e-3)
    assert repetition.again < repetition.seconds < repetition.whole
    assert "equal graphs, compiled 4 times: layers.0 to layers.3 (Block): " in "\n".join(compile_times_text(times))


@pytest.mark.slow
def test_kernels_of_inductor_belong_to_their_lines(tmp_path: Path) -> None:
    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        x = torch.sin(x) @ w  # first
        x = torch.cos(x) + 1  # second
        return (x * 2) @ w  # third

    with inductor_config.patch(fx_graph_cache=False):
        x = torch.randn(8, 8)
        times = measured(tmp_path, lambda: torch.compile(program, backend="inductor")(x, x))
    function_of_name = named(
        times, next(function.key[2] for function in function_times(times) if function.key[2].endswith("program"))
    )
    first_line, two, three = (line_of(f"{text}  # {name}") for text, name in KERNELS)
    assert function_of_name.lines[(first_line,)]["lowering"] > 0
    assert function_of_name.lines[(first_line,)]["code generation"] > 0
    # One kernel computes the second line and a part of the third.
    assert function_of_name.lines[(two, three)]["code generation"] > 0
    compiled = {
        lines
        for lines, stages in function_of_name.lines.items()
        if {"C++ compiler", "waiting for compilers"} & set(stages)
    }
    assert compiled <= {(), (first_line,), (two, three)}
    assert not times.unavailable


KERNELS = (
    ("x = torch.sin(x) @ w", "first"),
    ("x = torch.cos(x) + 1", "second"),
    ("return (x * 2) @ w", "third"),
)


@pytest.fixture
def torchs_own() -> Iterator[None]:
    methods = [
        (symbolic_convert.InstructionTranslatorBase, "starts_line"),
        (symbolic_convert.InliningInstructionTranslator, "inline_call_"),
        (torch.fx.Interpreter, "run_node"),
        (torch.fx.traceback, "set_stack_trace"),
    ]
    before = [getattr(owner, name, None) for owner, name in methods]
    finders, collections = list(sys.meta_path), list(gc.callbacks)
    yield
    assert [getattr(owner, name, None) for owner, name in methods] == before
    assert (sys.meta_path, gc.callbacks) == (finders, collections)
    assert not LISTENERS


def test_torch_has_its_own_methods_again_afterwards(tmp_path: Path, torchs_own: None) -> None:
    measured(tmp_path, trained("eager"))


def test_an_error_in_depyf_does_not_reach_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torchs_own: None
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("in depyf")

    monkeypatch.setattr(compile_steps, "module_of", fails)
    times = measured(tmp_path, trained("aot_eager"))
    assert times.unavailable == {"places": "RuntimeError: in depyf"}
    assert times.seconds > 0


def test_nothing_is_measured_of_a_program_that_compiles_nothing(tmp_path: Path) -> None:
    times = measured(tmp_path, lambda: None)
    assert not times.cells
    assert compile_times_text(times) == ["depyf: compile times: nothing was compiled"]
