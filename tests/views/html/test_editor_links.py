"""Links from places of the report to the reader's editor, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from depyf.views.html.build import build_report
from tests.dump_of_toy import FILES, function, index, toy_entry, write_dump
from tests.views.html.browsing import browser, visit


@pytest.fixture(scope="module")
def launched() -> Iterator[Any]:
    with browser() as chromium:
        yield chromium


def _report(directory: Path) -> Path:
    source = {"file": "toy.py", "path": "/home/me/a b/toy.py", "dump": "source/toy.py"}
    content = index([function("toy", [toy_entry()])], sources=[source])
    return build_report(write_dump(directory, content, FILES), single_file=True).page


def _links(visited: Any) -> set[str]:
    hrefs = "links => links.map(link => link.getAttribute('href'))"
    links: list[str] = visited.page.eval_on_selector_all("a.edit", hrefs)
    return set(links)


def test_places_open_in_the_chosen_editor(launched: Any, tmp_path: Path) -> None:
    with visit(launched, _report(tmp_path)) as visited:
        visited.go("#p0f0")
        visited.page.wait_for_function("() => document.querySelectorAll('#function a.edit').length > 0")
        assert any(link.startswith("vscode://file/home/me/a%20b/toy.py:") for link in _links(visited))
        visited.page.select_option("#editor", "pycharm")
        assert all(link.startswith("pycharm://open?file=/home/me/a%20b/toy.py&line=") for link in _links(visited))
        visited.page.select_option("#editor", "neovim")
        assert all(link.startswith("nvim://open?file=") for link in _links(visited))
        visited.page.select_option("#editor", "none")
        assert not _links(visited)
        visited.check()


def test_a_place_without_a_known_path_has_no_link(launched: Any, tmp_path: Path) -> None:
    content = index([function("toy", [toy_entry()])])
    page = build_report(write_dump(tmp_path, content, FILES)).page
    with visit(launched, page) as visited:
        assert all(link.startswith("vscode://file/") for link in _links(visited))
        assert visited.page.evaluate("() => depyf.editor.address('nowhere.py', 3)") is None
        assert visited.page.evaluate("() => depyf.editor.address('javascript:alert(1)//', 3)") is None
        visited.check()
