"""A browser on this machine, for the tests of pages; they are skipped, with the reason, where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VARIABLE = "DEPYF_TEST_BROWSER"
"""The path of a Chromium that is not on PATH."""


def found_browser() -> str | None:
    """Return the path of a Chromium, or None."""
    named = os.environ.get(VARIABLE)
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


@dataclass
class Visit:
    """A page that is open, with what it asked for and what it complained of."""

    page: Any
    folder: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, address: str) -> None:
        """Show another part of the report, and wait until it is there."""
        self.page.evaluate("address => { location.hash = address; }", address)
        self.page.wait_for_function("address => document.documentElement.dataset.shown === address", arg=address)

    def check(self) -> None:
        """Fail if the page asked for anything outside of its folder, or complained."""
        assert self.complaints == []
        outside = [request for request in self.requests if not request.startswith((self.folder, "data:"))]
        assert outside == []


@contextmanager
def browser() -> Iterator[Any]:
    """Start the browser, or skip the test."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the pages are opened with playwright")
    path = found_browser()
    if path is None:
        pytest.skip(f"no Chromium on this machine: install it, or set {VARIABLE} to its path")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@contextmanager
def visit(launched: Any, page_file: Path, address: str = "", **options: Any) -> Iterator[Visit]:
    """Open a report from disk."""
    page = launched.new_page(viewport={"width": 1500, "height": 900}, **options)
    visited = Visit(page, page_file.parent.as_uri())
    page.on("console", lambda message: visited.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: visited.complaints.append(str(error)))
    page.on("request", lambda request: visited.requests.append(request.url))
    page.goto(page_file.as_uri() + (f"#{address}" if address else ""))
    page.wait_for_function("() => document.documentElement.dataset.shown !== undefined")
    yield visited
    page.close()
