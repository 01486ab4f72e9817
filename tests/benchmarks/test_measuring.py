"""What measures us sees what it is to see."""

from __future__ import annotations

import logging
import sys
import types
from pathlib import Path

import pytest
import torch

from benchmarks import dump, models, torch_state
from benchmarks.bar import Bar, none_of, report


def test_a_bar_that_is_not_met_fails_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        report([Bar("first", "1", True), none_of("second", ["this one"], "2 files")])
    assert ended.value.code == 1
    assert capsys.readouterr().out.splitlines() == [
        "met      first: 1",
        "NOT MET  second: 1 of 2 files",
        "           this one",
    ]


def test_a_run_with_all_bars_met_ends_well() -> None:
    with pytest.raises(SystemExit) as ended:
        report([none_of("all", [], "2 files")])
    assert ended.value.code == 0


def test_lines_of_a_body_are_lines_of_code() -> None:
    text = '''
def other():
    pass
def f(a):
    """Docstring."""
    # comment
    x = g(
        a,
    )

    if x:  # comment
        return 1
    return 2
'''
    assert dump.lines_of_body(text, "f") == 6
    with pytest.raises(LookupError):
        dump.lines_of_body(text, "g")


@pytest.mark.parametrize(
    "body",
    [
        "return [a, b][0]",
        "return f(*[a, b])",
        "return f(*(a, b))",
        "x, y = [a, b]\n    return x",
        "x = [a, b]\n    return x[0] + x[1]",
        "x = []\n    x.extend([a])\n    return f(*x)",
        "x = [a]\n    y, = x\n    return y",
    ],
)
def test_a_list_that_is_built_only_to_be_taken_apart_is_found(body: str) -> None:
    assert dump.lists_taken_apart(f"def t(a, b):\n    {body}\n")


@pytest.mark.parametrize(
    "body",
    [
        "return f([], [], a)",
        "return [a, b]",
        "x = [a, b]\n    x[0] = 1\n    return x",
        "return f(*a)",
        "a, b = b, a\n    return a[0]",
    ],
)
def test_a_list_that_somebody_gets_is_not(body: str) -> None:
    assert dump.lists_taken_apart(f"def t(a, b):\n    {body}\n") == []


def test_files_that_do_not_compile_are_named(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "bad.py").write_text("return = 1\n", encoding="utf-8")
    assert [line.partition(":")[0] for line in dump.Dump(tmp_path).unreadable()] == ["bad.py"]


def test_results_are_compared_bit_for_bit(tmp_path: Path) -> None:
    nan = torch.tensor([1.0, float("nan"), 0.0])
    plain = {"same": nan, "zero": nan, "type": nan, "gone": nan}
    ours = {"same": nan.clone(), "zero": nan * torch.tensor([1, 1, -1]), "type": nan.double()}
    torch.save(plain, tmp_path / "plain")
    torch.save(ours, tmp_path / "ours")
    assert models.differences(tmp_path / "ours", tmp_path / "plain") == (["gone", "type", "zero"], 4)


def test_a_picture_of_torch_is_the_same_twice() -> None:
    assert torch_state.changes(torch_state.picture(), torch_state.picture()) == {}


def test_an_attribute_that_is_new_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch_state.picture()
    monkeypatch.setattr(torch._dynamo, "left_by_somebody", print, raising=False)
    assert list(torch_state.changes(before, torch_state.picture())) == ["torch._dynamo:left_by_somebody"]


def test_a_module_that_is_new_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch_state.picture()
    monkeypatch.setitem(sys.modules, "torch.just_imported", types.SimpleNamespace(f=print))
    assert torch_state.changes(before, torch_state.picture()) == {}


def test_a_replaced_function_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch_state.picture()
    monkeypatch.setattr(torch._dynamo.utils, "lazy_format_graph_code", print)
    assert list(torch_state.changes(before, torch_state.picture())) == ["torch._dynamo.utils:lazy_format_graph_code"]


def test_a_replaced_method_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch_state.picture()
    monkeypatch.setattr(torch.fx.GraphModule, "recompile", print)
    assert "torch.fx.graph_module:GraphModule.recompile" in torch_state.changes(before, torch_state.picture())


def test_a_forgotten_handler_hook_and_setting_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch_state.picture()
    monkeypatch.setattr(logging.getLogger("torch.__trace"), "handlers", [logging.NullHandler()])
    hook = torch._dynamo.convert_frame.register_bytecode_hook(lambda old, new: None)
    with torch._dynamo.config.patch(recompile_limit=99):
        state_changes = torch_state.changes(before, torch_state.picture())
    hook.remove()
    assert "torch._dynamo.config.recompile_limit" not in torch_state.changes(before, torch_state.picture())
    assert set(state_changes) >= {
        "logger torch.__trace handlers",
        "bytecode hooks",
        "torch._dynamo.config.recompile_limit",
    }
