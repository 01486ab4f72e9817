"""`--show`, `--stop-after` and `--without`: the forms on the way to source."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_USAGE
from depyf.decompiler.pipeline.table import OPTIONAL, PASSES

SOURCE = """
def f(a, b):
    with a as c:
        for x in c:
            if x and b:
                try:
                    b = [y for y in x]
                except ValueError as e:
                    return e
            else:
                return lambda: x
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file to decompile."""
    path = tmp_path / "sample.py"
    path.write_text(SOURCE, encoding="utf-8")
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(depyf, ["decompile", *arguments])


def test_bytecode(path: str) -> None:
    done = run(path, "--show", "bytecode")
    assert done.exit_code == EXIT_DONE
    assert "ENTER_WITH" in done.stdout
    assert done.stdout.count("\n# ") + done.stdout.startswith("# ") >= 3
    assert "handler 0: goes to" in done.stdout


def test_cfg(path: str) -> None:
    text = run(path, "--show", "cfg").stdout
    assert "block 0\n" in text
    assert "-> for v" in text
    assert "[handler 0: block" in text


def test_tree(path: str) -> None:
    text = run(path, "--show", "tree").stdout
    assert "loop " in text
    assert "goto " in text
    assert "with <exit v" in text
    assert "try:" in text


def test_steps_prints_every_rewrite(path: str) -> None:
    text = run(path, "--show", "steps").stdout
    names = {line[2:].partition(":")[0] for line in text.splitlines() if line.startswith("# ")}
    assert {"lift", "regions", "short-circuits", "build", "labels", "heads", "definitions"} <= names
    assert "-    for v" in text or "-for v" in text


@pytest.mark.parametrize("name", [row.name for row in PASSES])
def test_stop_after_each_pass(path: str, name: str) -> None:
    done = run(path, "--stop-after", name)
    assert done.exit_code == EXIT_DONE
    assert "# f (" in done.stdout


def test_a_pass_that_never_came_says_why(path: str) -> None:
    assert "# containers: the pass had nothing to do" in run(path, "--stop-after", "containers").stdout


@pytest.mark.parametrize("name", sorted(OPTIONAL - {"build"}))
def test_without_an_optional_pass(path: str, name: str) -> None:
    done = run(path, "--without", name)
    assert done.exit_code == EXIT_DONE, done.stderr
    assert "UNPROVEN" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--without", "labels"), "--without accepts"),
        (("--stop-after", "nothing"), "--stop-after accepts one of"),
        (("--show", "steps", "--stop-after", "labels"), "the number of a rewrite"),
        (("--show", "colours"), "Invalid value"),
        (("--show", "html", "--stop-after", "lift"), "shows all passes"),
    ],
)
def test_wrong_usage(path: str, arguments: tuple[str, ...], says: str) -> None:
    done = run(path, *arguments)
    assert done.exit_code == EXIT_USAGE
    assert says in done.stderr


def test_rewrites_are_announced_and_can_be_stopped_before(path: str) -> None:
    text = run(path, "--show", "steps").stdout
    assert "the region of handler" in text
    assert "absorbs the test of block" in text
    first = next(line for line in text.splitlines() if line.startswith("#   1. "))
    stopped = run(path, "--show", "steps", "--stop-after", "1").stdout
    assert "# stopped before" in stopped
    assert first in stopped
    assert "# leftovers" not in stopped


class Page(HTMLParser):
    """The rows of a page by column: text, instructions, lines; and every tag that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.columns: dict[str, list[tuple[str, set[str], set[str]]]] = {}
        self.tags: list[str] = []
        self.column: list[tuple[str, set[str], set[str]]] = []
        self.row: tuple[set[str], set[str]] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        known = {name: value or "" for name, value in attrs}
        if tag == "section":
            self.column = self.columns.setdefault(known["aria-label"], [])
        if known.get("class") == "row":
            self.row = set(known.get("data-at", "").split()), set(known.get("data-line", "").split())

    def handle_data(self, data: str) -> None:
        if self.row is not None:
            self.column.append((data, *self.row))

    def handle_endtag(self, tag: str) -> None:
        self.row = None

    def row_of(self, column: str, text: str) -> tuple[set[str], set[str]]:
        (location,) = [(at, lines) for shown, at, lines in self.columns[column] if text in shown]
        return location


def test_a_page_marks_the_same_instruction_in_all_columns(path: str) -> None:
    done = run(path, "--show", "html")
    assert done.exit_code == EXIT_DONE, done.stderr
    page = Page(done.stdout)
    assert list(page.columns) == ["bytecode", "graph", "tree", "source"]
    source, _ = page.row_of("source", "return e")
    for column, text in (("bytecode", "LOAD_FAST 'e'"), ("graph", "LOAD_FAST 'e'"), ("tree", "return e")):
        assert page.row_of(column, text)[0] & source, column
    known = {at for _, its, _ in page.columns["bytecode"] for at in its}
    shown = {at for _, its, _ in page.columns["source"] for at in its}
    assert len(known & shown) > 0.9 * len(known)


def test_a_page_shows_text_as_text(tmp_path: Path) -> None:
    path = tmp_path / "hostile.py"
    path.write_text("def f():\n    return '</div><script>alert(1)</script>', \"'\\\"&lt;\"\n", encoding="utf-8")
    page = Page(run(str(path), "--show", "html").stdout)
    assert page.tags.count("script") == 1
    assert any("</div><script>alert(1)</script>" in text for text, _, _ in page.columns["source"])


def test_a_page_loads_nothing(path: str) -> None:
    text = run(path, "--show", "html").stdout
    assert not any(word in text for word in ("src=", "href=", "url(", "http:", "https:"))
