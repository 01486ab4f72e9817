"""Every moment of a step is charged once, and to the right one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import index_parts
from depyf.links.origins import Links
from depyf.links.profile.attribution import OUTLIER, pieces_of, profile_of
from depyf.links.profile.calls import Call, graph_calls, matched, module_calls
from depyf.links.profile.events import LINE, STEP, Event, Period, Recording, leading_mark, periods
from depyf.links.profile.files import profile_json
from depyf.links.profile.lines import lines_of_operations
from depyf.links.profile.programs import Programs, Text
from depyf.links.profile.text import most_expensive
from depyf.links.profile.tree import spans, trees
from depyf.model.index_reader import read_run
from depyf.model.run import Compile, CompileId, Function, Resume

USER = "model.py"
MODULE = "## Call CompiledFxGraph abc ##"


def origins(*lines: int) -> frozenset[tuple[str, int]]:
    return frozenset((USER, line) for line in lines)


def programs() -> Programs:
    compiled_programs = Programs()
    function = Function("0", "forward", USER, 1, "", "0")
    compiled_programs.compiles["0/0"] = function, Compile(CompileId(0, 0), "forward", USER, 1)
    resumed = Function("1", "forward", USER, 1, "", "0", resumes_at=6, break_line=5)
    compiled_programs.compiles["1/0"] = (
        resumed,
        Compile(CompileId(1, 0), "forward", USER, 1, trigger=Resume(CompileId(0, 0))),
    )
    compiled_programs.heads.update({"0/0": (USER, 1), "1/0": (USER, 5)})
    calls = (Call("cpp_fused_add_0", 10, origins(2, 3)), Call("addmm", 12, origins(4)))
    compiled_programs.texts.append(Text("0/0", "kernel_0.py", False, True, calls))
    compiled_programs.texts.append(Text("0/0", "kernel_1.py", True, True, (Call("mm", 7, origins(4)),)))
    compiled_programs.texts.append(Text("1/0", "captured.py", False, False, (Call("sin", 3, origins(7)),)))
    return compiled_programs


def period(*events: Event, end: int = 100) -> Period:
    return Period(0, end, events)


def charged(step: Period) -> dict[tuple[str, tuple[int, ...], str], int]:
    """Return the nanoseconds of each charge by its kind, lines and function."""
    durations: dict[tuple[str, tuple[int, ...], str], int] = {}
    for piece in pieces_of(step, programs(), []):
        lines = tuple(line for _, line in sorted(piece.charge.lines))
        key = piece.charge.kind, lines, piece.charge.function
        durations[key] = durations.get(key, 0) + round(1e9 * (piece.end - piece.start))
    return durations


def test_spans_cover_a_stretch_without_gap_or_overlap() -> None:
    roots = trees([Event("a", 0, 10), Event("b", 2, 5), Event("c", 3, 4), Event("d", 12, 14)])
    parts = [(span.start, span.end, span.node.event.name if span.node else "") for span in spans(roots, 1, 13)]
    assert parts == [
        *((1, 2, "a"), (2, 3, "b"), (3, 4, "c"), (4, 5, "b"), (5, 10, "a")),
        *((10, 12, ""), (12, 13, "d")),
    ]


def test_a_step_of_a_compiled_graph() -> None:
    step = period(
        Event("TorchDynamo Cache Lookup", 5, 15),
        Event("Torch-Compiled Region: 0/0", 15, 90),
        Event("AOTDispatcher Runtime Wrapper Prologue", 20, 22),
        Event(MODULE, 25, 85),
        Event("graph_0_cpp_fused_add_0", 30, 50),
        Event("aten::addmm", 55, 80),
        Event("aten::copy_", 60, 65),
    )
    assert charged(step) == {
        ("python", (), ""): 15,
        ("guards", (1,), "forward"): 10,
        ("dynamo", (), "forward"): 13,
        ("wrapper", (), "forward"): 17,
        ("kernel", (2, 3), "forward"): 20,
        ("kernel", (4,), "forward"): 25,
    }


def test_what_a_module_runs_and_its_text_does_not_call_is_not_explained() -> None:
    step = period(
        Event("Torch-Compiled Region: 0/0", 0, 100),
        Event(MODULE, 0, 100),
        Event("graph_0_cpp_fused_add_0", 0, 50),
        Event("aten::surprise", 50, 100),
    )
    assert charged(step) == {("kernel", (2, 3), "forward"): 50, ("rest", (), "forward"): 50}


def test_the_gap_of_a_graph_break_is_charged_to_its_line() -> None:
    step = period(
        Event("Torch-Compiled Region: 0/0", 0, 100),
        Event(MODULE, 10, 40),
        Event("graph_0_cpp_fused_add_0", 10, 40),
        Event("aten::item", 50, 52),
        Event("TorchDynamo Cache Lookup", 60, 65),
        Event("Torch-Compiled Region: 1/0", 65, 95),
        Event("aten::sin", 70, 90),
    )
    assert charged(step) == {
        ("dynamo", (), "forward"): 15,
        ("kernel", (2, 3), "forward"): 30,
        ("break", (5,), ""): 10 + 8 + 5,
        ("eager", (5,), ""): 2,
        ("guards", (5,), "forward from line 6 on"): 5,
        ("kernel", (7,), "forward from line 6 on"): 20,
        ("dynamo", (), "forward from line 6 on"): 5,
    }


def test_a_backward_is_charged_to_the_forward_line() -> None:
    step = period(
        Event("autograd::engine::evaluate_function: CompiledFunctionBackward", 0, 100),
        Event("CompiledFunctionBackward", 5, 95),
        Event(MODULE, 10, 90),
        Event("aten::mm", 20, 80),
    )
    assert charged(step) == {("wrapper", (), ""): 20, ("wrapper", (), "forward"): 20, ("backward", (4,), "forward"): 60}


def test_graphs_that_run_as_they_are_are_charged_in_forward_and_backward() -> None:
    known = programs()
    known.texts.append(Text("0/0", "forward.py", False, False, (Call("mm", 2, origins(2)),)))
    known.texts.append(Text("0/0", "backward.py", True, False, (Call("t", 2, origins(3)), Call("mm", 3, origins(4)))))
    step = period(
        Event("Torch-Compiled Region: 0/0", 0, 40),
        Event("CompiledFunction", 0, 40),
        Event("aten::mm", 0, 40),
        Event("CompiledFunctionBackward", 40, 100),
        Event("aten::t", 40, 50),
        Event("aten::mm", 50, 100),
    )
    charges = [piece.charge for piece in pieces_of(step, known, [])]
    parts = [(charge.kind, sorted(line for _, line in charge.lines)) for charge in charges]
    assert parts == [("kernel", [2]), ("backward", [3]), ("backward", [4])]


@pytest.mark.parametrize("names_nodes", [True, False])
def test_kernels_are_charged_where_the_call_of_their_module_is_no_event(names_nodes: bool) -> None:
    known = programs()
    calls = (Call("add", 2, origins(2)), Call("addmm", 3, origins(4)))
    known.texts.append(Text("0/0", "forward.py", False, False, calls))
    if not names_nodes:
        # The lines are then left to the graph, where it has the operation.
        bare = tuple(Call(call.name, call.line, frozenset()) for call in known.texts[0].calls)
        known.texts[0] = Text("0/0", "kernel_0.py", False, True, bare)
    step = period(
        Event("Torch-Compiled Region: 0/0", 0, 100),
        Event("CompiledFunction", 0, 100),
        Event("graph_0_cpp_fused_add_0", 10, 40),
        Event("aten::addmm", 50, 90),
    )
    charges = [piece.charge for piece in pieces_of(step, known, []) if piece.charge.file]
    parts = [(charge.kind, charge.file, sorted(line for _, line in charge.lines)) for charge in charges]
    assert parts == [("kernel", "kernel_0.py", [2, 3] if names_nodes else []), ("kernel", "kernel_0.py", [4])]


def test_the_device_counts_and_the_host_where_the_device_waits_for_it() -> None:
    step = period(
        Event("Torch-Compiled Region: 0/0", 0, 60),
        Event(MODULE, 10, 60),
        Event("graph_0_cpp_fused_add_0", 20, 30, number=7),
        Event("cudaLaunchKernel", 22, 28, number=8, launched_by=7),
        Event("aten::addmm", 40, 50, number=8),
        Event("cudaDeviceSynchronize", 60, 100),
        Event("triton_one", 30, 55, 1, True, launched_by=7),
        Event("gemm", 55, 95, 1, True, launched_by=8),
    )
    assert charged(step) == {
        ("dynamo", (), "forward"): 10,
        ("wrapper", (), "forward"): 10,
        ("launch", (2, 3), "forward"): 10,
        ("kernel", (2, 3), "forward"): 25,
        ("kernel", (4,), "forward"): 40,
        ("waiting", (), ""): 5,
    }


def test_eager_operations_have_the_line_that_ran_before_them_in_a_marked_step() -> None:
    lined = [
        Event(STEP, 0, 1),
        Event(f"{LINE}{USER}:8", 2, 3),
        Event("aten::relu", 4, 6),
        Event("aten::clamp_min", 5, 6),
        Event(f"{LINE}{USER}:9", 7, 8),
        Event("aten::sum", 9, 10),
        Event(STEP, 20, 21),
    ]
    usual = lines_of_operations(lined, STEP, {})
    assert usual == [("aten::relu", (USER, 8)), ("aten::sum", (USER, 9))]
    step = period(Event("aten::relu", 0, 40), Event("aten::surprise", 40, 50), Event("aten::sum", 50, 100))
    parts = [(piece.charge.kind, sorted(piece.charge.lines)) for piece in pieces_of(step, Programs(), usual)]
    assert parts == [("eager", [(USER, 8)]), ("eager", []), ("eager", [(USER, 9)])]


def window(*lengths: int, name: str = STEP) -> list[Event]:
    events, at = [], 0
    for length in (*lengths, 0):
        events.append(Event(name, at, at + 1))
        at += length
    return events


def test_a_step_lasts_from_mark_to_mark() -> None:
    assert [step.seconds for step in periods(window(10, 20), STEP)] == [1e-8, 2e-8]


def test_the_rarest_code_that_is_called_again_begins_a_step() -> None:
    names = ["depyf: call 0", "depyf: call 1", "depyf: call 1", "depyf: call 0", "depyf: call 1", "depyf: call 1"]
    calls = [Event(name, at, at + 1) for at, name in enumerate([*names, "depyf: call 2"])]
    assert leading_mark([calls]) == "depyf: call 0"
    assert leading_mark([[*calls, Event(STEP, 90, 91)]]) == STEP
    assert leading_mark([[]]) == ""


def test_steps_that_compile_or_stand_out_are_left_out_and_told() -> None:
    steps = window(10, 11, 10, 9, 10, 500, 10)
    compiling = Event("_compile.compile_inner (dynamo_timed)", 22, 24)
    profile = profile_of(Recording([[*steps, compiling]]), Programs(), {})
    assert sorted(profile.each_step) == pytest.approx([9e-9, 1e-8, 1e-8, 1e-8, 1.1e-8])
    assert profile.left_out == {"contained a compile": 1, OUTLIER: 1}


def test_a_program_without_steps_says_so() -> None:
    profile = profile_of(Recording(), Programs(), {})
    assert (profile.each_step, profile.costs, profile.notes) == ((), [], [])


@pytest.mark.parametrize(
    ("recompiles", "hits", "says"),
    [
        (5, 1, "all 6 calls of `step` compiled; fix the recompiles at model.py:20 first"),
        (1, 3, "2 of 6 calls of `step` compiled; fix the recompiles at model.py:20 first"),
        (0, 3, "`step` was called 3 times; run 100 steps"),
    ],
)
def test_a_profile_without_steps_says_why_in_one_line(tmp_path: Path, recompiles: int, hits: int, says: str) -> None:
    refused = ['size of L["a"]: expected (10,), got (9,)']
    trigger = {"kind": "recompile", "refused": [{"entry": "0/0", "clauses": [], "explained": refused}]}
    caller = {"file": USER, "line": 20, "function": "<module>", "text": "step(a)"}
    triggers = [{"kind": "first call"}, *[trigger] * recompiles]
    compiles = [
        index_parts.entry(f"0/{number}", trigger=why, hits=hits, called_from=[caller])
        for number, why in enumerate(triggers)
    ]
    written = index_parts.index([index_parts.function("step", USER, 4, compiles)], [USER])
    run = read_run(index_parts.write_dump(tmp_path, written, {f"source/{USER}": ""}))
    lines = most_expensive(profile_json(profile_of(Recording(), Programs(), {}), run))
    assert lines == [f"depyf: no step was measured: a step needs 4 calls in a row without a compile, and {says}"]
    noted = Recording(notes=["the program profiles itself"])
    lines = most_expensive(profile_json(profile_of(noted, Programs(), {}), run))
    assert lines == ["depyf: no step was measured: the program profiles itself"]


def test_the_first_line_says_where_a_step_begins() -> None:
    step: dict[str, Any] = {"seconds": 0.01, "without_profiler": None, "steps": 1, "profiler": 0.0, "left_out": {}}
    calls = [Event(name, at, at + 1) for at, name in enumerate(["depyf: call 0"] * 3)]
    profile = profile_of(Recording([calls], codes=[("forward", "/me/model.py", 7)]), Programs(), {"/me/model.py": USER})
    assert profile.begins_at == ("forward", USER, 7)
    begin = dict(zip(("function", "file", "line"), profile.begins_at))
    content = {"step": {**step, "begins_at": begin}, "lines": [], "findings": [], "kinds": {}, "notes": []}
    (first, *_) = most_expensive(content)
    assert first.startswith("depyf: a step takes 10.00 ms, from one call of `forward` (model.py:7) to the next")


def test_calls_of_a_module_are_those_it_makes_and_not_those_in_its_kernels() -> None:
    text = Path(__file__).with_name("module.txt").read_text(encoding="utf-8")
    assert [(call.name, call.line) for call in module_calls(text, Links({}, ""))] == [
        ("cpp_fused_add_0", 20),
        ("addmm", 22),
        ("_softmax", 23),
        ("triton_poi_fused_1", 24),
    ]


def test_calls_of_a_graph() -> None:
    text = "def forward(self, x):\n    a = torch.nn.functional.relu(x)\n    b = a * 2;  a = None\n    c = b.sum()\n"
    text += "    d = torch.ops.aten.addmm.default(c, b, b)\n    return (d,)\n"
    assert [call.name for call in graph_calls(text, Links({}, ""))] == ["relu", "mul", "sum", "addmm"]


def test_events_are_matched_in_order_and_strangers_are_passed_over() -> None:
    calls = [Call("mm", 1, origins()), Call("cpp_fused_0", 2, origins()), Call("mm", 3, origins())]
    events = ["aten::mm", "aten::zeros", "graph_4_cpp_fused_0", "aten::mm"]
    assert [call and call.line for call in matched(calls, events)] == [1, None, 2, 3]


def test_kernels_of_templates_are_matched_by_their_place() -> None:
    names = ("cpp_fused_0", "cpp_fused_flex_attention_1", "addmm", "cpp_fused_2")
    calls = [Call(name, line, origins()) for line, name in enumerate(names, start=1)]
    events = ["graph_4_cpp_fused_0", "graph_4_kernel", "aten::zeros", "aten::addmm", "graph_4_cpp_fused_2"]
    assert [call and call.line for call in matched(calls, events)] == [1, 2, None, 3, 4]
    assert matched(calls[:1], ["graph_4_kernel", "graph_4_cpp_fused_0"]) == [None, calls[0]]
