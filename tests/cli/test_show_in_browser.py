"""The page of `--show html` in a real browser: a click marks the same place in all columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.test_show import SOURCE, run
from tests.views.html.browsing import browser

COLUMNS = ["bytecode", "graph", "tree", "source"]
MARKED = """
() => Object.fromEntries([...document.querySelectorAll('section')].map(column => [
  column.getAttribute('aria-label'),
  Object.fromEntries(['same', 'near'].map(
    mark => [mark, [...column.querySelectorAll('.row.' + mark)].map(row => row.textContent.trim())])),
]))
"""
VISIBLE = """
() => [...document.querySelectorAll('section')].map(column => {
  const marked = column.querySelector('.same'), around = column.getBoundingClientRect();
  if (!marked) return null;
  const at = marked.getBoundingClientRect();
  return at.top >= around.top && at.bottom <= around.bottom;
})
"""


@contextmanager
def opened(tmp_path: Path, source: str) -> Iterator[Any]:
    """Open the page of a source from disk; it must not complain, nor ask for anything else."""
    path = tmp_path / "sample.py"
    path.write_text(source, encoding="utf-8")
    file = tmp_path / "page.html"
    file.write_text(run(str(path), "--show", "html").stdout, encoding="utf-8")
    heard: list[str] = []
    with browser() as launched:
        page = launched.new_page(viewport={"width": 1500, "height": 500})
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(file.as_uri())
        yield page
        assert heard == [file.as_uri()]


def click(page: Any, column: str, text: str) -> dict[str, dict[str, list[str]]]:
    """Click the only row of a column with a text; return what is marked."""
    row = page.locator(f"section[aria-label={column}] .row", has_text=text)
    assert row.count() == 1
    row.click()
    marked: dict[str, dict[str, list[str]]] = page.evaluate(MARKED)
    assert list(marked) == COLUMNS
    return marked


def test_a_click_marks_the_same_instruction_node_and_line(tmp_path: Path) -> None:
    with opened(tmp_path, SOURCE) as page:
        marked = click(page, "bytecode", "LOAD_FAST 'e'")
        assert [column["same"] for column in marked.values()] == [
            marked["bytecode"]["same"][:1],
            marked["graph"]["same"][:1],
            ["return e"],
            ["return e"],
        ]
        assert "LOAD_FAST 'e'" in marked["bytecode"]["same"][0]
        assert "LOAD_FAST 'e'" in marked["graph"]["same"][0]
        assert page.evaluate(VISIBLE) == [True] * 4


def test_a_click_on_a_line_marks_all_that_it_came_from(tmp_path: Path) -> None:
    with opened(tmp_path, "def f(a, b):\n    if a and b:\n        return g(a)\n    return b\n") as page:
        marked = click(page, "source", "if a and b:")
        assert marked["source"]["same"] == ["if a and b:"]
        loads = [row for row in marked["bytecode"]["same"] if "LOAD_FAST" in row]
        assert [row.split()[3] for row in loads] == ["'a'", "'b'"]
        assert marked["tree"]["same"] == ["if a and b:"]
        again = click(page, "source", "return g(a)")
        assert again["source"]["same"] == ["return g(a)"]
        assert "if a and b:" not in again["tree"]["same"]


def test_what_is_clicked_looks_marked_too(tmp_path: Path) -> None:
    with opened(tmp_path, SOURCE) as page:
        click(page, "source", "return e")
        colours = page.evaluate(
            "() => [...document.querySelectorAll('.same')].map(row => getComputedStyle(row).backgroundColor)"
        )
        assert len(colours) > 3
        assert len(set(colours)) == 1


def test_what_else_stands_in_the_user_s_line_is_marked_lightly(tmp_path: Path) -> None:
    with opened(tmp_path, SOURCE) as page:
        marked = click(page, "source", "return e")
        assert marked["bytecode"]["near"]
        assert not set(marked["bytecode"]["near"]) & set(marked["bytecode"]["same"])
