"""Holds the lines that light up on a page against the links of the model, in both directions."""

from __future__ import annotations

from pathlib import Path

from depyf.links.documents import Document, documents
from depyf.model.index_reader import read_run
from depyf.views.html.function_data import entry_key
from tests.views.html.browsing import Visit

DOC, SOURCE = ".pane:not(.source)", ".pane.source"


def lit(visited: Visit, selector: str) -> list[int]:
    """Return the numbers of the lines that a selector fits."""
    numbers = visited.page.eval_on_selector_all(selector, "rows => rows.map(row => Number(row.dataset.n))")
    return sorted(numbers)


def point(visited: Visit, selector: str) -> None:
    """Move the mouse to a line, as the page sees it."""
    visited.page.eval_on_selector(selector, "row => row.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))")


def check_links(visited: Visit, directory: Path, process: str = "p0", of_each: int = 6) -> int:
    """Point at some lines of every text and at the source of each; return at how many there were."""
    run = read_run(directory)
    checked = 0
    for page, (root, family) in enumerate(run.families().items()):
        filename = run.session.functions[root].filename
        for function, compiled in family:
            for text in documents(run, function, compiled):
                if text.links.lines and (text.is_leading or text.language == "bytecode"):
                    visited.go(f"#{process}f{page}/{entry_key(compiled)}/{text.key}")
                    checked += _check_text(visited, text, filename, of_each)
    return checked


def _check_text(visited: Visit, text: Document, filename: str, count: int) -> int:
    visited.page.wait_for_function(
        "key => document.querySelector(`.pane:not(.source) [data-doc='${key}'][aria-selected=true]`) !== null",
        arg=text.key,
    )
    visited.page.wait_for_selector(f"{DOC} .ln")
    shown = set(lit(visited, f"{DOC} .ln"))
    some = [number for number in sorted(text.links.lines) if number in shown]
    some = some[:: max(1, len(some) // count)]
    for number in some:
        point(visited, f'{DOC} .ln[data-n="{number}"]')
        assert lit(visited, f"{SOURCE} .ln.kin") == sorted(
            {line for file, line in text.links.of(number) if file == filename}
        )
        assert lit(visited, f"{DOC} .ln.at") == [number]
    origins = sorted(line for file, line in text.links.all() if file == filename)
    for line in origins:
        point(visited, f'{SOURCE} .ln[data-n="{line}"]')
        came = [number for number in sorted(text.links.lines) if (filename, line) in text.links.of(number)]
        assert lit(visited, f"{DOC} .ln.kin") == [number for number in came if number in shown]
    return len(some) + len(origins)
