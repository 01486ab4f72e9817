"""The page of costs in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from depyf.views.html.build import build_report
from tests.dump_of_toy import HOSTILE, write_toy
from tests.views.html.browsing import browser, visit

GRAPH = "__compiled_fn_1.Captured_Graph.0.py"


@pytest.fixture(scope="module")
def launched() -> Iterator[Any]:
    with browser() as chromium:
        yield chromium


def place(line: int, text: str = "") -> dict[str, Any]:
    return {"file": "toy.py", "line": line, "text": text}


def row(seconds: float, *places: dict[str, Any]) -> dict[str, Any]:
    together = list(places) if len(places) > 1 else []
    return {**places[0], "seconds": seconds, "share": seconds, "kind": "kernel", "set": together, "eager": None}


def kernel(name: str, seconds: float, *lines: int) -> dict[str, Any]:
    calls = [{"dump": GRAPH, "line": 3}]
    kernel_row = {"name": name, "kind": "kernel", "seconds": seconds, "times": 1, "compiles": ["0/0"], "calls": calls}
    return kernel_row | {"lines": [place(line) for line in lines]}


def piece(start: float, end: float, name: str, *lines: int) -> dict[str, Any]:
    event = {"start": start, "end": end, "kind": "kernel", "name": name, "function": "toy"}
    return event | {"lines": [place(line) for line in lines]}


def write_profile(directory: Path) -> None:
    profile = {
        "step": {"seconds": 1.0, "steps": 5, "profiler": 0.0, "without_profiler": 0.98, "eager": None, "left_out": {}},
        "kinds": {"kernel": 0.9, "guards": 0.1},
        "lines": [row(0.6, place(5, HOSTILE)), row(0.3, place(7), place(8))],
        "kernels": [kernel("one", 0.6, 5), kernel("both", 0.3, 7, 8)],
        "functions": [{"name": "toy", "seconds": 1.0, "kinds": {"kernel": 0.9, "guards": 0.1}, "compiles": ["0/0"]}],
        "modules": [],
        "findings": [],
        "notes": [HOSTILE],
        "timeline": [piece(0, 0.6, "one", 5), piece(0.6, 0.9, "both", 7, 8), piece(0.9, 1.0, "guards")],
    }
    (directory / "profile.json").write_text(json.dumps(profile), encoding="utf-8")


def test_a_report_without_a_profile_has_no_page_of_costs(tmp_path: Path) -> None:
    write_toy(tmp_path)
    assert "#costs" not in build_report(tmp_path).page.read_text(encoding="utf-8")


def test_a_line_its_kernel_and_its_stretch_are_lit_together(launched: Any, tmp_path: Path) -> None:
    write_toy(tmp_path)
    write_profile(tmp_path)
    with visit(launched, build_report(tmp_path).page) as visited:
        visited.go("#costs")
        page = visited.page.locator(".page.costs")
        assert "A step takes 1.00 s" in page.inner_text()
        page.locator("tbody tr", has_text="both").first.click()
        assert page.locator(".heat .row.lit .number").all_inner_texts() == ["7", "8"]
        assert page.locator(".axis-of-step .lit").count() == 1
        page.locator(".heat .row.priced", has_text="60.0 %").click()
        assert page.locator("tr.lit").count() == 2
        assert page.locator(".heat .row.lit .number").all_inner_texts() == ["5"]
        visited.check()


def test_tables_are_sorted_by_a_click_and_kernels_lead_to_their_text(launched: Any, tmp_path: Path) -> None:
    write_toy(tmp_path)
    write_profile(tmp_path)
    with visit(launched, build_report(tmp_path).page) as visited:
        visited.go("#costs")
        table = visited.page.locator(".page.costs table", has=visited.page.locator("th", has_text="kernel"))
        names = table.locator("tbody a")
        assert names.all_inner_texts() == ["one", "both"]
        table.locator("th button", has_text="kernel").click()
        assert names.all_inner_texts() == ["both", "one"]
        assert names.first.get_attribute("href") == "#p0f0/c0/captured_graph"
        visited.check()
