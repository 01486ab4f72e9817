"""The names beside `prepare_debug`: debug, install, explain, and those of earlier releases."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.explain import dump_src, interactive_explain  # noqa: E402

import depyf  # noqa: E402 - after the check that torch is there
from depyf.decompiler import Decompiler  # noqa: E402
from depyf.torch.adapters import other_code, seams  # noqa: E402
from tests.torch import programs  # noqa: E402


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


def test_debug_inside_a_context_is_a_clear_error(tmp_path: Path) -> None:
    with (
        depyf.prepare_debug(tmp_path),
        pytest.raises(RuntimeError, match="leave that context first"),
        depyf.debug(pause=False),
    ):
        pass


def test_debug_tells_where_to_break_and_compiles_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled = torch.compile(programs.straight, backend="eager")
    with depyf.prepare_debug(tmp_path, install=not other_code.is_there()):
        compiled(torch.ones(3))
    with depyf.prepare_debug(tmp_path / "more"):
        with_other_shape = torch.ones(2, 3)
    with depyf.debug(pause=False):
        result = compiled(with_other_shape)
    assert torch.equal(result, programs.straight(with_other_shape))
    assert len(torch._dynamo.eval_frame._debug_get_cache_entry_list(programs.straight.__code__)) == 1
    said = capsys.readouterr().out
    path = tmp_path / "__transformed_code_0_for_straight.py"
    assert f"break at {path}:" in said
    line = int(said.split(f"break at {path}:")[1].split()[0])
    assert "__compiled_fn_" in path.read_text(encoding="utf-8").splitlines()[line - 1]


def test_debug_tells_nothing_of_what_torch_has_dropped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled = torch.compile(programs.straight, backend="eager")
    for directory in (tmp_path / "first", tmp_path / "second"):
        torch._dynamo.reset()
        with depyf.prepare_debug(directory, install=not other_code.is_there()):
            compiled(torch.ones(3))
    with depyf.debug(pause=False):
        compiled(torch.ones(3))
    said = capsys.readouterr().out
    assert f"files are in {tmp_path / 'first'}\n  1 other compile: dropped by torch since" in said
    assert f"break at {tmp_path / 'second' / '__transformed_code_0_for_straight.py'}:" in said
    assert f"break at {tmp_path / 'first'}" not in said


def test_debug_pauses_unless_it_is_told_not_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or "")
    with depyf.debug():
        pass
    monkeypatch.setenv("DEPYF_DEBUG_PAUSE", "0")
    with depyf.debug():
        pass
    with depyf.debug(pause=True):
        pass
    assert len(asked) == 2


def test_debug_without_a_terminal_goes_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with depyf.debug(pause=True):
        pass
    assert "no terminal" in capsys.readouterr().out


def test_install_shows_the_source_in_torchs_own_log() -> None:
    hooks = torch._dynamo.convert_frame._bytecode_hooks
    before = dict(hooks)
    depyf.install()
    depyf.install()
    assert len(hooks) == len(before) + 1
    seen: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append(record.getMessage())  # type: ignore[method-assign]
    log = torch._logging.getArtifactLogger("torch._dynamo.convert_frame", "bytecode")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        torch.compile(programs.straight, backend="eager")(torch.ones(3))
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        depyf.uninstall()
        depyf.uninstall()
    assert dict(hooks) == before
    assert any("by depyf:\ndef straight(x):" in text for text in seen)


def test_the_full_code_of_a_compiled_function() -> None:
    compiled = torch.compile(programs.branching, backend="eager")
    compiled(torch.randn(3), torch.rand(3))
    text = dump_src(compiled)
    compile(text, "full_code", "exec")
    assert "def guard_" in text
    assert f"{seams.RESUME_PREFIX}branching" in text
    with pytest.raises(ValueError, match="call it first"):
        dump_src(torch.compile(programs.straight, backend="eager"))


def test_the_full_code_inside_of_a_context_is_that_of_its_file(tmp_path: Path) -> None:
    compiled = torch.compile(programs.straight, backend="eager")
    directory = tmp_path / "not" / "there" / "yet"
    with depyf.prepare_debug(str(directory)) as session:
        compiled(torch.ones(3))
        text = dump_src(compiled)
    (root,) = session.roots()
    written = (directory / root.file).read_text("utf-8")
    assert "def guard_" in text
    assert re.findall(r"^def \w+", text, re.MULTILINE) == re.findall(r"^def \w+", written, re.MULTILINE)


def test_a_compiled_function_shows_itself_in_a_notebook() -> None:
    compiled = torch.compile(programs.branching, backend="eager")
    compiled(torch.randn(3), torch.rand(3))
    shown = interactive_explain(compiled)._repr_mimebundle_()
    assert shown["text/plain"] == dump_src(compiled)
    assert "x = a / (torch.abs(a) + 1)" in shown["text/html"]
    assert "b.sum() \\u003c 0" in shown["text/html"]
    opened = re.findall(r"<(\w+)", shown["text/html"])
    assert {name: shown["text/html"].count(f"</{name}>") for name in set(opened)} == Counter(opened)


def test_a_capture_shows_its_report_and_then_a_function_its_graphs(tmp_path: Path) -> None:
    compiled = torch.compile(programs.branching, backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        compiled(torch.randn(3), torch.rand(3))
        assert "text/html" not in session._repr_mimebundle_()
    shown = session._repr_mimebundle_()
    assert repr(session) == shown["text/plain"]
    assert shown["text/plain"].startswith("depyf: 2 compiles, 1 graph break")
    graph = "captured_graph&quot;"
    assert graph in shown["text/html"]
    assert graph in interactive_explain(compiled)._repr_mimebundle_()["text/html"]
    # Another dtype is another compile, also where other tests made the size a dynamic one.
    compiled(torch.randn(3, dtype=torch.float64), torch.rand(3, dtype=torch.float64))
    assert graph not in interactive_explain(compiled)._repr_mimebundle_()["text/html"]


def test_compile_ids_that_begin_anew_are_no_entries_of_an_earlier_capture(tmp_path: Path) -> None:
    compiled = torch.compile(programs.branching, backend="eager")
    with depyf.prepare_debug(tmp_path):
        compiled(torch.randn(3), torch.rand(3))
        compiled(torch.randn(3, dtype=torch.float64), torch.rand(3, dtype=torch.float64))
    torch._dynamo.reset()
    compiled(torch.randn(3), torch.rand(3))
    assert "captured_graph&quot;" not in interactive_explain(compiled)._repr_mimebundle_()["text/html"]


def test_markup_in_a_name_is_shown_and_not_run() -> None:
    def f(x):
        return x + 1

    f.__code__ = f.__code__.replace(co_name="<script>alert(1)</script>")
    compiled = torch.compile(f, backend="eager")
    compiled(torch.ones(2))
    assert "<script>" not in interactive_explain(compiled)._repr_html_()


def test_the_decompiler_of_earlier_releases() -> None:
    assert "torch.sin(x)" in Decompiler(programs.straight.__code__).decompile()
    assert Decompiler(programs.straight).decompile(overwite_fn_name="f").startswith("def f(x):")
    with pytest.raises(TypeError):
        Decompiler(3)
