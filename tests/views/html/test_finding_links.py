"""A click on a finding leads to its line, in wide and in narrow windows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import index_parts
from depyf.findings import findings
from depyf.model.index_reader import read_run
from depyf.views.html.build import build_report
from tests.dump_of_toy import FILES, entry, function, line, toy_entry, write_dump
from tests.views.html.browsing import Visit, browser, visit

WIDE, NARROW = {"width": 1500, "height": 900}, {"width": 390, "height": 844}
LONG = "def deep(x):\n" + "".join(f"    x = x + {number}\n" for number in range(400)) + "    return x.item()\n"
"""A break far below what a window shows."""
CALLER = "from a_b import long\n\n\nfor mode in 'ab':\n    long(x, mode)\n"
NAME = "a 100% #b/long.py"
"""A name with all that an address has to escape."""


@pytest.fixture(scope="module")
def launched() -> Iterator[Any]:
    with browser() as chromium:
        yield chromium


def place(file: str, number: int, text: str, name: str) -> dict[str, Any]:
    return {"file": file, "line": number, "function": name, "text": text}


def write_findings(directory: Path) -> Path:
    """Write a dump with a finding of each shape: a break near, far and in a callee, a recompile, failures, a skip."""
    far = place(NAME, 402, "return x.item()", "deep")
    near, recompiled = toy_entry(), toy_entry() | {"id": "0/1", "breaks": []}
    words = ["L[\"mode\"]: expected 'a', got 'b'  (:5 x = a / (torch.abs(a) + 1))"]
    recompiled["trigger"] = {
        "kind": "recompile",
        "refused": [{"entry": "0/0", "clauses": ["mode"], "explained": words}],
    }
    recompiled["called_from"] = [place("train.py", 5, "long(x, mode)", "<module>")]
    near["breaks"].append(index_parts.broken(far, reason="Unsupported Tensor.item()", stack=[line(8), far]))
    failed = entry("1/0", failure={"kind": "BackendCompilerFailed", "reason": "no such kernel", "where": line(5)})
    functions = [
        function("toy", [near, recompiled]),
        function("failing", [failed]),
        index_parts.function("deep", NAME, 1, [entry("2/0", breaks=[index_parts.broken(far, stack=[far])])]),
    ]
    skipped = [{"name": "left", "file": "toy.py", "installed": False, "reason": "torch says so", "times": 2}]
    content = index_parts.index(functions, ["toy.py", "train.py", NAME], skipped=skipped)
    return write_dump(directory, content, {**FILES, "source/train.py": CALLER, f"source/{NAME}": LONG})


def is_seen(visited: Visit, selector: str) -> bool:
    """Return whether the middle of an element is in the window, and not covered by another element."""
    is_visible: bool = visited.page.eval_on_selector(
        selector,
        """row => {
            const box = row.getBoundingClientRect(), y = box.y + box.height / 2;
            const top = document.elementFromPoint(Math.min(box.x + 60, innerWidth - 20), y);
            return y > 0 && y < innerHeight && top !== null && row.contains(top);
        }""",
    )
    return is_visible


def click_all(visited: Visit, directory: Path) -> int:
    """Click on each finding, and look for its line; return how many there are."""
    run_findings = findings(read_run(directory).session)
    links = ".findings a.place"
    assert visited.page.locator(links).count() == len(run_findings)
    for number, finding in enumerate(run_findings):
        visited.go("#overview")
        visited.page.locator(links).nth(number).click()
        visited.page.wait_for_function("() => location.hash !== '#overview'")
        visited.page.wait_for_function("() => document.documentElement.dataset.shown === location.hash")
        assert finding.where is not None
        if not finding.where.line:
            assert visited.page.locator(".page.breaks td").get_by_text(finding.where.function, exact=True).is_visible()
            continue
        at = f'.pane.source .ln.at[data-n="{finding.where.line}"]'
        visited.page.wait_for_selector(at)
        assert visited.page.locator(".pane.source .ln.at").count() == 1
        head = visited.page.eval_on_selector(at, "row => row.closest('.code').previousElementSibling.textContent")
        assert f"  {finding.where.file}:" in head
        assert is_seen(visited, at), finding
    return len(run_findings)


@pytest.mark.parametrize("window", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_click_on_a_finding_leads_to_its_line(launched: Any, tmp_path: Path, window: dict[str, int]) -> None:
    report = build_report(write_findings(tmp_path))
    with visit(launched, report.page) as visited:
        visited.page.set_viewport_size(window)
        assert click_all(visited, tmp_path) >= 5
        visited.check()


def test_a_second_click_from_the_overview_leads_there_again(launched: Any, tmp_path: Path) -> None:
    report = build_report(write_findings(tmp_path))
    with visit(launched, report.page) as visited:
        assert click_all(visited, tmp_path) == click_all(visited, tmp_path)
