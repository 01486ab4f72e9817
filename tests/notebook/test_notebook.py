"""A notebook with depyf in it: run by a kernel, shown as a page, and opened in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the cells compile functions")
nbformat = pytest.importorskip("nbformat", reason="the notebook is run with nbclient")
nbclient = pytest.importorskip("nbclient", reason="the notebook is run with nbclient")
nbconvert = pytest.importorskip("nbconvert", reason="the notebook's page is made with nbconvert")
pytest.importorskip("ipykernel", reason="the notebook needs a kernel")

from tests.views.html.browsing import browser  # noqa: E402

CELLS = {
    "load": "%load_ext depyf",
    "toy": """\
import torch

def toy(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b
""",
    "captured": """\
%%depyf -o out --backend aot_eager
compiled = torch.compile(toy)
for n in (10, 10, 8):
    y = compiled(torch.ones(n), torch.ones(n))
y.sum()
""",
    "backend": "torch._dynamo.optimize.__code__.co_name + torch._dynamo.optimize.__module__",
    "explained": """\
from depyf.explain import interactive_explain
interactive_explain(compiled)
""",
    "cached": """\
def plain(x):
    return x.sin() + 1
plain.__code__ = plain.__code__.replace(co_name="</script><img src=x onerror=\\"document.title='owned'\\">")
other = torch.compile(plain, backend="eager")
other(torch.ones(3))
interactive_explain(other)
""",
    "nothing": """\
%%depyf -o empty --no-html
1 + 1;
""",
    "priced": """\
%%depyf -o priced --profile --no-html
def heavy(x):
    return torch.linalg.matrix_exp(x).sum() + x.sin().sum()
torch._dynamo.reset()
steady = torch.compile(heavy, backend="eager")
for _ in range(60):
    steady(torch.ones(64, 64))
""",
    "fails": """\
%%depyf -o failed
torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
raise KeyError("mine")
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def notebook(folder: Path) -> Any:
    whole_notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(text, id=name) for name, text in CELLS.items()]
    )
    where = {"metadata": {"path": str(folder)}}
    return nbclient.NotebookClient(whole_notebook, timeout=300, allow_errors=True, resources=where).execute()


def outputs(notebook: Any, name: str) -> list[Any]:
    return next(cell.outputs for cell in notebook.cells if cell.id == name)


def test_a_cell_gives_its_value_and_below_it_the_report(notebook: Any, folder: Path) -> None:
    shown, value = outputs(notebook, "captured")
    assert value.data["text/plain"] == "tensor(4.)"
    assert shown.data["text/plain"].startswith("depyf: 4 compiles, 1 graph break (2 times), 2 recompiles")
    assert "Graph break: a branch depends on the values of a tensor (In[2]:5)" in shown.data["text/plain"]
    assert shown.data["text/html"].count("<iframe") == 1
    assert (folder / "out" / "index.json").is_file()
    assert (folder / "out" / "__compiled_fn_1.Forward_graph.0.py").is_file()


def test_the_backend_is_forced_in_its_cell_alone(notebook: Any) -> None:
    (value,) = outputs(notebook, "backend")
    assert value.data["text/plain"] == "'optimizetorch._dynamo.eval_frame'"


def test_a_function_is_explained_with_the_graphs_that_were_captured(notebook: Any) -> None:
    (captured,), (cached,) = outputs(notebook, "explained"), outputs(notebook, "cached")
    assert captured.data["text/plain"].startswith('"""toy')
    assert "captured graph" in captured.data["text/html"]
    assert "torch&#x27;s cache" in cached.data["text/html"]


def test_what_a_cell_with_nothing_compiled_shows_is_text(notebook: Any) -> None:
    (shown,) = outputs(notebook, "nothing")
    assert list(shown.data) == ["text/plain"]
    assert "nothing was compiled" in shown.data["text/plain"]


def test_a_cell_is_profiled(notebook: Any, folder: Path) -> None:
    text = "".join(output.text for output in outputs(notebook, "priced") if output.output_type == "stream")
    assert text.startswith("depyf: a step takes ")
    assert "return torch.linalg.matrix_exp(x).sum() + x.sin().sum()" in text
    assert (folder / "priced" / "profile.json").is_file()


def test_a_cell_that_fails_fails_and_its_report_is_shown_all_the_same(notebook: Any) -> None:
    shown, error = outputs(notebook, "fails")
    assert "1 compile," in shown.data["text/plain"]
    assert (error.ename, error.evalue) == ("KeyError", "'mine'")
    assert "extension.py" not in "".join(error.traceback)


@pytest.fixture(scope="module")
def opened(notebook: Any, folder: Path) -> Iterator[tuple[Any, list[str], list[str]]]:
    """Open the notebook as a page; give it, what it complained of, and what it asked for."""
    exporter = nbconvert.HTMLExporter(require_js_url="", mathjax_url="", jquery_url="")
    text, _ = exporter.from_notebook_node(notebook)
    path = folder / "notebook.html"
    path.write_text(text, encoding="utf-8")
    complaints: list[str] = []
    requests: list[str] = []
    with browser() as launched:
        page = launched.new_page(viewport={"width": 1300, "height": 3600})
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        for frame in page.frames[1:]:
            frame.wait_for_function("() => document.documentElement.dataset.shown !== undefined")
        yield page, complaints, requests
        page.close()


@pytest.fixture
def shown(opened: tuple[Any, list[str], list[str]], folder: Path) -> Iterator[Any]:
    page, complaints, requests = opened
    yield page
    assert complaints == []
    own_addresses = ("data:", "about:", (folder / "notebook.html").as_uri())
    assert [request for request in requests if not request.startswith(own_addresses)] == []


def test_each_report_shows_the_page_of_its_function(shown: Any) -> None:
    titles = [frame.title() for frame in shown.frames[1:]]
    assert titles[:2] == ["depyf: toy", "depyf: toy"]
    assert titles[2].startswith("depyf: </script><img")
    assert [frame.locator("img").count() for frame in shown.frames[1:]] == [0] * len(titles)
    assert "/" in shown.frames[3].inner_text(".entries")


def test_links_and_keys_stay_inside_the_report(shown: Any) -> None:
    frame = shown.frames[1]
    before = shown.url
    frame.click("text=Recompiles")
    frame.wait_for_function("() => document.documentElement.dataset.shown === '#recompiles'")
    frame.click("text=Overview")
    frame.wait_for_function("() => document.documentElement.dataset.shown === '#overview'")
    frame.click(".tree a >> nth=0")
    frame.wait_for_function("() => document.documentElement.dataset.shown.startsWith('#p0f0')")
    frame.click("text=captured graph")
    frame.click(".pane.source .ln >> nth=1")
    assert frame.locator(".pane:not(.source) .ln.kin").count() > 0
    assert shown.url == before


def test_a_report_reaches_nothing_of_the_notebook(shown: Any) -> None:
    with pytest.raises(Exception, match="SecurityError|cross-origin"):
        shown.frames[1].evaluate("parent.document.title")
