"""The story of a run: what was skipped, what is gone, why there is another entry; and the schema it is told in."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.links.line_states import LineState, line_states  # noqa: E402
from depyf.model.index_json import SCHEMA  # noqa: E402
from depyf.model.run import FirstCall, GuardSet, NoCall, Transformed  # noqa: E402
from depyf.torch.adapters import lacking, seams  # noqa: E402
from depyf.torch.capture.recorder import SKIPPED  # noqa: E402
from depyf.verify.level import Level  # noqa: E402
from depyf.views.summary import show, summary  # noqa: E402
from depyf.views.words import trigger_words  # noqa: E402
from tests.torch import programs  # noqa: E402
from tests.torch.needs import needs  # noqa: E402
from tests.torch.test_dump import index, run_branching  # noqa: E402

traced = pytest.mark.skipif(not seams.has_structured_trace(), reason="torch before 2.4 does not tell all of this")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


STYLED = re.compile(r"\x1b\[[0-9;]*m")


def nothing_to_compile(x: Any) -> int:
    return 3


class Adds(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x + 1


def scaled(x: Any, factor: float, word: str) -> Any:
    return x * factor if word == "a" else x + factor


def compiled_once(path: Path, function: Any, *args: Any, **options: Any) -> dict[str, Any]:
    with depyf.prepare_debug(path) as session:
        torch.compile(function, backend="eager", **options)(*args)
        seen = "frames that Dynamo skipped" not in session.unavailable
    if not seen:
        pytest.skip("this torch does not say which frames it skips")
    return index(path)


@traced
def test_a_frame_without_tensors_is_skipped(tmp_path: Path) -> None:
    content = compiled_once(tmp_path, nothing_to_compile, torch.ones(3))
    names = {frame["name"]: frame for frame in content["skipped"]}
    assert names["nothing_to_compile"]["file"].endswith("test_story.py")
    assert names["nothing_to_compile"]["reason"]
    for function in content["functions"]:  # Newer torch says so before a compile begins.
        assert function["compiles"][0]["guards"] == {"unavailable": SKIPPED}
    assert "nothing_to_compile" in (tmp_path / "index.md").read_text("utf-8").split("Frames that Dynamo skipped")[1]


@traced
def test_nobody_else_hears_of_skipped_frames(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from torch._dynamo import convert_frame

    before = convert_frame.log.level, list(convert_frame.log.filters)
    compiled_once(tmp_path, nothing_to_compile, torch.ones(3))
    assert (convert_frame.log.level, convert_frame.log.filters) == before
    assert "skipping" not in capfd.readouterr().err


@traced
def test_an_entry_whose_module_died(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path):
        torch.compile(Adds(), backend="eager")(torch.ones(2))
        torch.compile(programs.straight, backend="eager")(torch.ones(2))
    gone = {function["name"]: function["compiles"][0]["gone"] for function in index(tmp_path)["functions"]}
    assert gone["straight"] is None
    assert gone["forward"] is None or "gone" in gone["forward"]


@traced
def test_an_entry_whose_function_died(tmp_path: Path) -> None:
    def run() -> None:
        names: dict[str, Any] = {}
        exec("def passing(x):\n    return x + 1", names)
        torch.compile(names["passing"], backend="eager")(torch.ones(2))

    with depyf.prepare_debug(tmp_path):
        run()
        torch._dynamo.reset()
    (function,) = index(tmp_path)["functions"]
    assert "gone" in function["compiles"][0]["gone"]
    assert "Entries that no longer exist" in (tmp_path / "index.md").read_text("utf-8")


@traced
def test_a_recompile_tells_every_clause_that_failed(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path):
        compiled = torch.compile(scaled, backend="eager", dynamic=False)
        compiled(torch.ones(3), 2.0, "a")
        compiled(torch.ones(4, dtype=torch.float64), 2.0, "b")
    first, second = index(tmp_path)["functions"][0]["compiles"]
    (entry,) = second["trigger"]["entries"]
    parts = ("source", "check", "expected", "actual")
    failures = {tuple(failure[part] for part in parts) for failure in entry["failures"]}
    assert entry["complete"]
    assert failures >= {
        ('L["x"]', "SIZE", "(3,)", "(4,)"),
        ('L["x"]', "DTYPE", "torch.float32", "torch.float64"),
        ('L["word"]', "VALUE", "'a'", "'b'"),
    }
    assert second["contrast"]["entry"] == first["id"]
    respects = second["contrast"]["respects"]
    assert any(line.startswith(f'size of L["x"]: {first["id"]} asks for (3,), {second["id"]} for') for line in respects)
    page = (tmp_path / "index.md").read_text("utf-8")
    assert f"how its guards differ from those of {first['id']}" in page


@traced
@needs(lacking.guarded_types())
def test_an_entry_from_before_the_context_tells_why_it_refused(tmp_path: Path) -> None:
    compiled = torch.compile(scaled, backend="eager", dynamic=False)
    compiled(torch.ones(3), 2.0, "a")
    with depyf.prepare_debug(tmp_path):
        compiled(torch.ones(4), 2.0, "b")
    (compile_entry,) = index(tmp_path)["functions"][0]["compiles"]
    (entry,) = compile_entry["trigger"]["entries"]
    checks = {(failure["check"], failure["source"]) for failure in entry["failures"]}
    assert checks >= {("SIZE", 'L["x"]'), ("VALUE", 'L["word"]')}
    assert compile_entry["contrast"]["entry"] == entry["entry"]


def test_a_terminal_is_told_in_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_branching("eager", tmp_path / "elsewhere")
    assert "depyf:" not in capsys.readouterr().err, "a file or a pipe is the program's own"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    torch._dynamo.reset()
    run_branching("eager", tmp_path)
    lines = STYLED.sub("", capsys.readouterr().err).splitlines()
    assert lines[0].startswith("depyf: ")
    assert lines[0].endswith(f"see {tmp_path / 'index.md'}")
    assert len(lines) <= 8
    monkeypatch.setenv("DEPYF_SUMMARY", "0")
    torch._dynamo.reset()
    run_branching("eager", tmp_path / "third")
    assert capsys.readouterr().err == ""


def test_the_short_story_needs_no_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["depyf: 1 compile; see [here]", "  graph break at a.py:1: print"]
    shown = []
    for _ in range(2):
        stream = io.StringIO()
        show(lines, stream)
        shown.append(stream.getvalue())
        monkeypatch.setitem(sys.modules, "rich.console", None)
    assert shown == ["\n".join(lines) + "\n"] * 2


@traced
def test_the_short_story_names_breaks_and_recompiles(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path) as session:
        compiled = torch.compile(programs.breaking_once, backend="eager", dynamic=False)
        compiled(torch.ones(3))
        compiled(torch.ones(4))
    text = "\n".join(summary(session, tmp_path))
    assert "Graph break: " in text and "(tests/torch/programs.py:" in text
    assert "size of `x` was (4,), not (3,)" in text


def _schema() -> Any:
    return json.loads((ROOT / "docs" / "index.schema.json").read_text("utf-8"))


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_dumps_keep_the_schema(backend: str, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked by jsonschema")
    run_branching(backend, tmp_path, gradient=True)
    with depyf.prepare_debug(tmp_path):
        torch.compile(programs.breaking_in_a_loop, backend="eager")(torch.ones(3))
        torch.compile(nothing_to_compile, backend="eager")(torch.ones(3))
        compiled = torch.compile(scaled, backend="eager")
        compiled(torch.ones(3), 2.0, "a")
        compiled(torch.ones(3), 2.0, "b")
    content = index(tmp_path)
    jsonschema.Draft202012Validator.check_schema(_schema())
    jsonschema.validate(content, _schema())
    assert content["schema"] == SCHEMA == _schema()["properties"]["schema"]["const"]


def test_the_schema_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked by jsonschema")
    run_branching("eager", tmp_path)
    content = index(tmp_path)
    content["functions"][0]["compiles"][0]["unheard_of"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, _schema())


def test_the_page_of_the_index_names_every_key() -> None:
    text = (ROOT / "docs" / "index-json.md").read_text("utf-8")
    for key in _schema()["properties"]:
        if key not in ("schema", "torch", "python"):
            assert f"`{key}`" in text or f'"{key}"' in text, key


SEEN: list[Any] = []


def changes_what_others_see(x: Any, items: list[Any]) -> Any:
    SEEN.append(1)
    items.append(x * 2)
    return x + 1


@needs(lacking.side_effects())
def test_a_change_that_others_see_is_told_with_the_line_that_makes_it(tmp_path: Path) -> None:
    content = compiled_once(tmp_path, changes_what_others_see, torch.ones(3), [])
    (compiled,) = content["functions"][0]["compiles"]
    lines_by_source = {
        effect["source"]: [line["text"] for line in effect["lines"]] for effect in compiled["side_effects"]
    }
    assert lines_by_source == {"L['items']": ["items.append(x * 2)"], "G['SEEN']": ["SEEN.append(1)"]}
    text = (tmp_path / compiled["transformed"]["file"]).read_text(encoding="utf-8")
    first = changes_what_others_see.__code__.co_firstlineno
    assert f"# :{first + 1} SEEN.append(1)\n" in text
    assert f"# :{first + 2} items.append(x * 2)\n" in text


def calls_it(compiled: Any) -> Any:
    return compiled(torch.ones(3))


@traced
def test_a_compile_is_told_with_the_line_that_calls_the_function(tmp_path: Path) -> None:
    with depyf.prepare_debug(tmp_path):
        calls_it(torch.compile(programs.straight, backend="eager"))
    (compiled,) = index(tmp_path)["functions"][0]["compiles"]
    last = compiled["called_from"][-1]
    assert (last["function"], last["text"]) == ("calls_it", "return compiled(torch.ones(3))")


@pytest.mark.skipif(
    not hasattr(torch._dynamo.config, "enable_aot_compile"), reason="this torch compiles nothing before it is called"
)
def test_what_is_compiled_ahead_of_its_calls_has_a_whole_story(tmp_path: Path) -> None:
    def doubled(x, factor):
        return torch.sin(x) * factor

    with torch._dynamo.config.patch(enable_aot_compile=True), depyf.prepare_debug(tmp_path) as session:
        try:
            aot_compiled = torch.compile(doubled, fullgraph=True, backend="aot_eager").aot_compile(
                ((torch.ones(3), 2), {})
            )
        except (RuntimeError, AssertionError) as error:
            assert "SerializableCallable" in str(error) or "expected OutputCode" in str(error)
            pytest.skip("this torch compiles ahead of calls with a backend alone whose code it can save")
        assert torch.equal(aot_compiled(torch.ones(3), 2), doubled(torch.ones(3), 2))
    ((function, compiled),) = session.compiles()
    assert (function.name, function.first_line) == ("doubled", doubled.__code__.co_firstlineno)
    assert isinstance(compiled.transformed, Transformed)
    assert compiled.transformed.level is not Level.UNPROVEN
    assert isinstance(compiled.guards, GuardSet)
    assert {"Captured_Graph", "Forward_graph"} <= {artefact.stage for artefact in compiled.artefacts}
    assert compiled.seconds["total"] > 0
    assert (session.loose, compiled.gone) == ([], "")


@pytest.mark.skipif(
    not hasattr(torch.compiler, "load_compiled_function"), reason="this torch loads no function by itself"
)
def test_a_saved_function_that_is_loaded_has_its_own_name(tmp_path: Path) -> None:
    def doubled(x, factor):
        return torch.sin(x) * factor

    with torch._dynamo.config.patch(enable_aot_compile=True):
        try:
            aot_compiled = torch.compile(doubled, fullgraph=True, backend="aot_eager").aot_compile(
                ((torch.ones(3), 2), {})
            )
            aot_compiled.save_compiled_function(str(tmp_path / "saved"))
        except (RuntimeError, AssertionError) as error:
            assert "SerializableCallable" in str(error) or "expected OutputCode" in str(error)
            pytest.skip("this torch compiles ahead of calls with a backend alone whose code it can save")
        torch._dynamo.reset()
        with depyf.prepare_debug(tmp_path / "dump") as session, open(tmp_path / "saved", "rb") as file:
            loaded = torch.compiler.load_compiled_function(file)
            assert torch.equal(loaded(torch.ones(3), 2), doubled(torch.ones(3), 2))
    ((function, compiled),) = session.compiles()
    assert (function.name, function.first_line) == ("doubled", doubled.__code__.co_firstlineno)
    assert function.filename == __file__ and "def doubled" in function.source
    assert compiled.trigger == NoCall("asked for by load_compiled_function")
    assert compiled.user_stack[-1].function == "test_a_saved_function_that_is_loaded_has_its_own_name"


@traced
@pytest.mark.parametrize("whole", [True, False])
def test_a_refused_frame_fails_where_it_must_be_whole_and_runs_eager_elsewhere(whole: bool, tmp_path: Path) -> None:
    def refused(x):
        try:
            torch._dynamo.graph_break()
            return x + 1
        finally:
            x.add_(1)

    with depyf.prepare_debug(tmp_path) as session:
        expected = pytest.raises(torch._dynamo.exc.Unsupported) if whole else contextlib.nullcontext()
        with expected:
            torch.compile(refused, backend="eager", fullgraph=whole)(torch.ones(3))
    failures = [compiled.failure for _, compiled in session.compiles() if compiled.failure is not None]
    if not whole and not failures:
        pytest.skip("this torch compiles the rest of a `try`")
    assert [failure.raised for failure in failures] == [whole]
    assert index(tmp_path)["functions"][0]["compiles"][0]["failure"]["raised"] is whole
    eager = [function for function in line_states(session) if function.count(LineState.EAGER)]
    assert bool(eager) is not whole


@traced
def test_a_compile_after_one_that_failed_is_no_recompile(tmp_path: Path) -> None:
    tries: list[int] = []

    def backend(module, inputs):
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("not the first time")
        return module.forward

    compiled = torch.compile(programs.straight, backend=backend)
    with depyf.prepare_debug(tmp_path) as session:
        with pytest.raises(Exception, match="not the first time"):
            compiled(torch.ones(3))
        compiled(torch.ones(3))
    (function, first), (_, second) = session.compiles()
    assert first.failure is not None
    assert second.trigger == FirstCall(str(first.id))
    assert trigger_words(function, function, second) == f"again, because compile {first.id} failed"
    assert index(tmp_path)["functions"][0]["compiles"][1]["trigger"] == {"kind": "first call", "failed": str(first.id)}
