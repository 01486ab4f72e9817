"""What the first page is made of: the tree of calls, the axis of time, its phases, and the modules."""

from __future__ import annotations

import pytest

from depyf.model.calls import call_tree
from depyf.model.failure import Failure
from depyf.model.modules import folded, modules
from depyf.model.phases import duration, phases
from depyf.model.run import Compile, CompileId, Function, Guard, GuardSet
from depyf.model.status import Status, status_of, worst
from depyf.model.user_line import UserLine
from depyf.views.html.build import code_marked, seconds_words
from depyf.views.html.overview import Axis


def function(name: str, *callers: UserLine) -> Function:
    compiled = Compile(CompileId(0, 0), name, "a.py", 1, user_stack=callers)
    return Function(name, name, "a.py", 1, "", name, compiles=[compiled])


def test_functions_stand_below_the_calls_that_they_share_and_torchs_own_are_left_out() -> None:
    top, inner = UserLine("train.py", 1, "step()"), UserLine("train.py", 5, "model(x)")
    of_torch = UserLine("torch/nn/modules/module.py", 9, "forward_call()")
    tree = call_tree([function("f", top, inner, of_torch), function("g", top), function("h", top, inner)])
    rows = [(row.depth, row.item.name if isinstance(row.item, Function) else row.item.text) for row in tree]
    assert rows == [(0, "step()"), (1, "g"), (1, "model(x)"), (2, "f"), (2, "h")]


def test_times_without_any_compile_are_cut_out_of_the_axis() -> None:
    axis = Axis([(0.0, 1.0), (100.0, 101.0), (100.5, 102.0)])
    assert axis.length == 3.0
    assert [round(axis.percent(at)) for at in (0.0, 1.0, 50.0, 100.0, 102.0)] == [0, 33, 33, 33, 100]


def test_an_axis_of_nothing_has_no_length() -> None:
    assert Axis([]).percent(1.0) == 0.0


def test_phases_add_up_to_the_whole() -> None:
    seconds = {"total": 5.0, "backend": 4.0, "inductor": 3.0, "code generation": 1.0, "backward total": 2.0}
    assert sum(phases(seconds).values()) == duration(seconds) == 7.0
    assert phases({}) == {}
    assert phases({"total": 1.0, "backend": 2.0}) == {"backend": 1.0}


def test_the_worst_of_what_happened_is_shown() -> None:
    compiled = Compile(CompileId(0, 0), "f", "a.py", 1)
    assert status_of(compiled) is Status.SKIPPED
    compiled.failure = Failure("Unsupported", "why", None)
    assert status_of(compiled) is Status.FAILED
    assert worst([Status.COMPILED, Status.BROKE, Status.RECOMPILED]) is Status.BROKE
    assert worst([]) is Status.COMPILED


def module_guard(path: str, kind: str) -> Guard:
    steps = "".join(f'.__dict__["_modules"]["{name}"]' for name in path.split(".") if name)
    return Guard("TYPE_MATCH", "", "", f'type(L["self"]{steps}) is {kind}')


def test_modules_are_read_from_guards_and_what_is_none_is_left_out() -> None:
    forward = function("forward")
    paths = {
        "": "Model",
        "blocks": "ModuleList",
        "blocks.10": "Block",
        "blocks.2": "Block",
        "blocks.2.norm": "LayerNorm",
    }
    other = Guard("TYPE_MATCH", "", "", 'type(L["self"].__dict__["_parameters"]) is dict')
    forward.compiles[0].guards = GuardSet((other, *(module_guard(path, kind) for path, kind in paths.items())))
    assert [module.path for module in modules(forward)] == ["", "blocks", "blocks.2", "blocks.2.norm", "blocks.10"]


def test_modules_of_a_list_that_are_the_same_inside_are_shown_once() -> None:
    forward = function("forward")
    paths = {"": "Model", "b": "ModuleList", "head": "Linear"}
    for number in range(3):
        paths |= {f"b.{number}": "Block", f"b.{number}.norm": "LayerNorm" if number < 2 else "RMSNorm"}
    forward.compiles[0].guards = GuardSet(tuple(module_guard(path, kind) for path, kind in paths.items()))
    rows = [(module.path, module.times) for module in folded(modules(forward))]
    assert rows == [("", 1), ("b", 1), ("b.0", 2), ("b.0.norm", 1), ("b.2", 1), ("b.2.norm", 1), ("head", 1)]


@pytest.mark.parametrize(
    ("text", "marked"), [("a `b` <c>", 'a <code class="inline">b</code> &lt;c&gt;'), ("a `b", "a `b")]
)
def test_code_between_backticks_is_marked_and_all_is_escaped(text: str, marked: str) -> None:
    assert str(code_marked(text)) == marked


def test_durations_for_a_reader() -> None:
    assert [seconds_words(seconds) for seconds in (0, 0.0004, 0.25, 12.34)] == ["", "<1 ms", "250 ms", "12.3 s"]
