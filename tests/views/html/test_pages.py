"""The report in a real browser: it opens from disk, links lines as the model does, finds, and runs nothing of yours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from depyf.views.html.build import build_report
from tests.dump_of_toy import (
    FILES,
    HOSTILE,
    SOURCE,
    entry,
    function,
    index,
    line,
    toy_entry,
    write_dump,
    write_toy,
)
from tests.views.html.browsing import browser, visit
from tests.views.html.checking import check_links, lit, point

PAGES = ("overview", "recompiles", "breaks", "caches", "diff")


@pytest.fixture(scope="module")
def launched() -> Iterator[Any]:
    with browser() as chromium:
        yield chromium


def refused(entry_id: str) -> dict[str, Any]:
    explained = ['size of L["a"]: expected (10,), got (8,)  (:5 x = a / (torch.abs(a) + 1))']
    return {"kind": "recompile", "refused": [{"entry": entry_id, "clauses": ["size mismatch"], "explained": explained}]}


def write_two(directory: Path) -> Path:
    second = toy_entry() | {"id": "0/1", "trigger": refused("0/0"), "breaks": []}
    functions = [function("toy", [toy_entry(), second]), function("other", [entry("1/0")])]
    return write_dump(
        directory, index(functions, skipped=[{"name": "g", "file": "x.py", "reason": "no", "times": 2}]), FILES
    )


@pytest.mark.parametrize(
    ("address", "missing"),
    [
        ("#p0f9", "page"),
        ("#nonsense/c0", "page"),
        ("#p0f0/c9", "compile"),
        ("#p0f0/c0/no_such_text", "text"),
        ("#100%", "page"),
    ],
)
def test_an_address_that_the_report_does_not_have_says_so(
    launched: Any, tmp_path: Path, address: str, missing: str
) -> None:
    report = build_report(write_two(tmp_path))
    with visit(launched, report.page) as visited:
        visited.go(address)
        notice = visited.page.locator("#unknown")
        assert notice.is_visible() and f"names a {missing} that is not in this report: {address}" in notice.inner_text()
        for known in ("#overview", "#p0f0", "#p0f0/c0", "#p0f0/c0/captured_graph", "#p0f0/c0/captured_graph/L1"):
            visited.go(known)
            assert not notice.is_visible(), known
        visited.page.locator('[data-entry="c1"]').click()
        visited.page.wait_for_function("location.hash.startsWith('#p0f0/c1')")
        assert not notice.is_visible()


def test_a_function_page_names_the_backend_and_its_time(launched: Any, tmp_path: Path) -> None:
    toy_compile = toy_entry() | {"backend": "turbine", "seconds": {"total": 2.0, "backend": 1.25}}
    report = build_report(write_dump(tmp_path, index([function("toy", [toy_compile])]), FILES))
    with visit(launched, report.page) as visited:
        visited.go("#p0f0/c0")
        assert "Backend: turbine, 1.25 s." in visited.page.locator(".why").inner_text()


@pytest.mark.parametrize("single_file", [False, True], ids=["folder", "single file"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_opens_from_disk_without_complaint(
    launched: Any, tmp_path: Path, single_file: bool, scheme: str
) -> None:
    report = build_report(write_two(tmp_path), single_file=single_file)
    with visit(launched, report.page, color_scheme=scheme) as visited:
        for page in PAGES:
            visited.go(f"#{page}")
            assert visited.page.locator(f'[data-page="{page}"]').first.is_visible()
        visited.go("#p0f0/c0/captured_graph")
        assert visited.page.locator(".pane .code").count() == 2
        assert visited.page.evaluate("document.documentElement.dataset.theme") == scheme
        visited.check()


def test_lines_light_up_as_the_model_links_them(launched: Any, tmp_path: Path) -> None:
    report = build_report(write_toy(tmp_path))
    with visit(launched, report.page) as visited:
        assert check_links(visited, tmp_path) >= 12
        visited.check()


def test_a_line_without_a_link_says_so(launched: Any, tmp_path: Path) -> None:
    report = build_report(write_toy(tmp_path))
    with visit(launched, report.page, "p0f0/c0/captured_graph") as visited:
        point(visited, '.pane:not(.source) .ln[data-n="2"]')
        assert "no link is known: torch records no line of yours" in visited.page.inner_text(".foot")
        point(visited, '.pane.source .ln[data-n="9"]')
        assert "no link is known: no graph, guard or kernel" in visited.page.inner_text(".foot")


def test_the_margin_says_which_graph_a_line_went_into_and_where_it_broke(launched: Any, tmp_path: Path) -> None:
    report = build_report(write_toy(tmp_path))
    with visit(launched, report.page, "p0f0/c0") as visited:
        assert visited.page.inner_text('.pane.source .ln[data-n="5"] .m') == "1"
        assert visited.page.inner_text('.pane.source .ln[data-n="6"] .m').split() == ["1", "//"]
        assert "Data-dependent branching" in visited.page.inner_text(".breaknote")


def test_the_line_that_calls_what_breaks_is_marked_and_what_is_left_of_the_function(
    launched: Any, tmp_path: Path
) -> None:
    toy_compile = toy_entry()
    toy_compile["breaks"][0] |= {
        "where": line(40, "print(x)", "helper") | {"file": "other.py"},
        "stack": [line(20, "toy(a, b)", "<module>"), line(4), line(8, "return x * b"), line(40, "print(x)", "helper")],
    }
    rest = {"name": "torch_dynamo_resume_in_toy_at_8", "file": "toy.py", "installed": False, "reason": "no", "times": 1}
    report = build_report(write_dump(tmp_path, index([function("toy", [toy_compile])], skipped=[rest]), FILES))
    with visit(launched, report.page, "p0f0/c0") as visited:
        assert visited.page.inner_text('.pane.source .ln[data-n="8"] .m').split() == ["//", "–"]
        notes = visited.page.locator(".breaknote").all_inner_texts()
        assert notes[0].startswith("the graph ends in this call, at other.py:40: Data-dependent")
        assert notes[2] == "the rest runs uncompiled: no"
        assert visited.page.locator('.pane.source .ln[data-n="20"]').count() == 0
        point(visited, '.pane.source .ln[data-n="9"]')
        assert "no link is known: no graph, guard or kernel" in visited.page.inner_text(".foot")
        visited.go("#breaks")
        assert "the rest of toy after the break at :8" in visited.page.inner_text('[data-page="breaks"]')
        visited.check()


def test_frames_of_packages_are_folded_below_the_users_own(launched: Any, tmp_path: Path) -> None:
    frames = [
        {"name": "emit", "file": "logging/__init__.py", "installed": True, "reason": "no", "times": 9},
        {"name": "mine", "file": "toy.py", "installed": False, "reason": "no", "times": 1},
    ]
    report = build_report(write_dump(tmp_path, index([function("toy", [toy_entry()])], skipped=frames), FILES))
    with visit(launched, report.page, "breaks") as visited:
        assert visited.page.locator(".page.breaks").get_by_text("mine", exact=True).is_visible()
        assert not visited.page.get_by_text("emit", exact=True).is_visible()
        visited.page.get_by_text("1 of installed packages").click()
        assert visited.page.get_by_text("emit", exact=True).is_visible()


def test_a_docstring_with_a_prefix_is_a_string_to_its_end(launched: Any, tmp_path: Path) -> None:
    files = {**FILES, "source/toy.py": SOURCE.replace("    x = a", '    r"""if it\n    # is `for` you"""\n    x = a')}
    report = build_report(write_dump(tmp_path, index([function("toy", [toy_entry()])]), files))
    with visit(launched, report.page, "p0f0/c0") as visited:
        rows = visited.page.locator(".pane.source .ln .t")
        assert [rows.nth(number).locator(".k, .c").count() for number in (0, 1, 2)] == [1, 0, 0]


def test_docstrings_are_folded_until_they_are_asked_for(launched: Any, tmp_path: Path) -> None:
    long = 'def toy(a, b):\n    """Return one.\n\n    More\n    words.\n    """\n'
    transformed = FILES["__transformed_code_0_for_toy.py"].replace("def toy(a, b):\n", long)
    files = {**FILES, "__transformed_code_0_for_toy.py": transformed}
    report = build_report(write_dump(tmp_path, index([function("toy", [toy_entry()])]), files))
    with visit(launched, report.page, "p0f0/c0/transformed") as visited:
        hidden, button = visited.page.locator('.pane:not(.source) .ln[data-n="5"]'), visited.page.locator(".code .fold")
        assert button.inner_text() == "⋯ 4 more lines of the docstring"
        assert visited.page.is_visible('.pane:not(.source) .ln[data-n="3"]') and not hidden.is_visible()
        assert visited.page.is_visible('.pane:not(.source) .ln[data-n="8"]')
        button.click()
        assert hidden.is_visible()
        button.click()
        assert not hidden.is_visible()
        visited.go("#p0f0/c0/transformed/L6")
        assert hidden.is_visible()
        visited.check()


def test_a_real_mouse_lights_up_and_a_click_is_kept_in_the_address(launched: Any, tmp_path: Path) -> None:
    report = build_report(write_toy(tmp_path))
    with visit(launched, report.page, "p0f0/c0/captured_graph") as visited:
        visited.page.hover('.pane.source .ln[data-n="5"]')
        assert lit(visited, ".pane:not(.source) .ln.kin") == [3, 4, 5, 9]
        visited.page.click('.pane.source .ln[data-n="5"]')
        assert visited.page.evaluate("location.hash") == "#p0f0/c0/captured_graph/S0.5"
        visited.page.keyboard.press("Escape")
        assert visited.page.evaluate("location.hash") == "#p0f0/c0/captured_graph"
    with visit(launched, report.page, "p0f0/c0/captured_graph/S0.5") as visited:
        assert lit(visited, ".pane.source .ln.at") == [5]
        assert lit(visited, ".pane:not(.source) .ln.kin") == [3, 4, 5, 9]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("torch.abs(l_a_)", "captured graph"),
        ("def toy", "source"),
        ("the size of", "recompiles"),
        ("torch.cond", "breaks"),
    ],
)
def test_search_finds(launched: Any, tmp_path: Path, text: str, where: str) -> None:
    report = build_report(write_two(tmp_path))
    with visit(launched, report.page) as visited:
        visited.page.keyboard.press("/")
        visited.page.keyboard.type(text)
        visited.page.wait_for_function("text => document.getElementById('search').dataset.done === text", arg=text)
        assert where in visited.page.inner_text("#search ol")
        visited.page.click("#search ol a")
        visited.page.wait_for_function("() => !document.getElementById('search').open")
        visited.check()


def test_a_diff_shows_the_lines_that_differ(launched: Any, tmp_path: Path) -> None:
    other = "__compiled_fn_1.Captured_Graph.1.py"
    second = toy_entry() | {"id": "0/1", "trigger": refused("0/0")}
    second["artefacts"] = [{**second["artefacts"][0], "file": other}]
    graph = FILES["__compiled_fn_1.Captured_Graph.0.py"]
    files = {**FILES, other: graph.replace("torch.abs(L_a_)", "torch.neg(L_a_)").replace("        lt = x < 0\n", "")}
    report = build_report(write_dump(tmp_path, index([function("toy", [toy_entry(), second])]), files))
    with visit(launched, report.page, "diff/p0f0/c0/captured_graph/p0f0/c1/captured_graph") as visited:
        assert visited.page.inner_text("#diff .lead") == "2 lines only on the left, 1 only on the right"
        assert visited.page.locator("#diff .gone mark").first.inner_text() == "abs"
        assert visited.page.locator("#diff .come mark").first.inner_text() == "neg"
        visited.check()


def test_numbers_of_the_process_are_no_difference(launched: Any, tmp_path: Path) -> None:
    first, second = toy_entry(), toy_entry() | {"id": "0/1", "trigger": refused("0/0")}
    for number, toy_compile in enumerate((first, second)):
        clause = f'G["__builtins_dict___{number}"]["len"] is len'
        toy_compile["guards"] = [{"kind": "ID_MATCH", "source": "", "clause": clause, "where": None}]
    report = build_report(write_dump(tmp_path, index([function("toy", [first, second])]), FILES))
    with visit(launched, report.page, "diff/p0f0/c0/guards/p0f0/c1/guards") as visited:
        assert visited.page.inner_text("#diff .lead") == "no line differs"


def test_keys_do_what_the_mouse_does(launched: Any, tmp_path: Path) -> None:
    report = build_report(write_two(tmp_path))
    with visit(launched, report.page) as visited:
        for key, shown in (("r", "#recompiles"), ("b", "#breaks"), ("d", "#diff"), ("o", "#overview")):
            visited.page.keyboard.press(key)
            visited.page.wait_for_function("shown => document.documentElement.dataset.shown === shown", arg=shown)
        visited.go("#p0f0/c0/transformed")
        visited.page.keyboard.press("]")
        visited.page.wait_for_function("() => location.hash.startsWith('#p0f0/c1/')")
        visited.page.keyboard.press("3")
        visited.page.wait_for_function("() => location.hash === '#p0f0/c1/captured_graph'")
        visited.page.keyboard.press("j")
        assert lit(visited, ".pane.source .ln.at") == [4]
        before = visited.page.evaluate("document.documentElement.dataset.theme")
        visited.page.keyboard.press("t")
        assert visited.page.evaluate("document.documentElement.dataset.theme") != before
        visited.check()


def test_a_hostile_name_and_source_are_shown_and_do_nothing(launched: Any, tmp_path: Path) -> None:
    hostile_line = f"    x = {HOSTILE!r}\n"
    files = {**FILES, "source/toy.py": SOURCE.replace("    b = b * -1\n", f"    {hostile_line}")}
    toy_compile = toy_entry()
    toy_compile["breaks"][0]["reason"] = toy_compile["breaks"][0]["hints"][0] = HOSTILE
    toy_compile["guards"][0]["clause"] = HOSTILE
    toy_compile["trigger"] = {
        "kind": "recompile",
        "refused": [{"entry": HOSTILE, "clauses": [HOSTILE], "explained": []}],
    }
    content = index(
        [function(HOSTILE, [toy_compile])], skipped=[{"name": HOSTILE, "file": HOSTILE, "reason": HOSTILE, "times": 1}]
    )
    report = build_report(write_dump(tmp_path, content, files))
    with visit(launched, report.page) as visited:
        for address in ("#recompiles", "#breaks", "#diff", "#p0f0/c0/guards", "#p0f0/c0/transformed", "#overview"):
            visited.go(address)
            assert "owned" != visited.page.title()
            assert visited.page.locator("img").count() == 0
        assert HOSTILE in visited.page.inner_text(".tree")
        visited.page.keyboard.press("/")
        visited.page.keyboard.type("onerror")
        visited.page.wait_for_function("() => document.getElementById('search').dataset.done === 'onerror'")
        assert "onerror" in visited.page.inner_text("#search ol")
        assert visited.page.locator("img").count() == 0
        visited.check()


def test_a_long_text_is_loaded_when_it_is_looked_at(launched: Any, tmp_path: Path) -> None:
    graph = FILES["__compiled_fn_1.Captured_Graph.0.py"]
    files = {**FILES, "__compiled_fn_1.Captured_Graph.0.py": graph * 300}
    report = build_report(write_dump(tmp_path, index([function("toy", [toy_entry()])]), files))
    with visit(launched, report.page, "p0f0/c0/transformed") as visited:
        assert not [request for request in visited.requests if request.endswith("p0f0-c0-2.js")]
        visited.go("#p0f0/c0/captured_graph")
        assert [request for request in visited.requests if request.endswith("p0f0-c0-2.js")]
        assert visited.page.locator(".pane:not(.source) .ln").count() < 1200
        visited.go(f"#p0f0/c0/captured_graph/L{graph.count(chr(10)) * 200 + 4}")
        assert visited.page.locator(".pane:not(.source) .ln.at").is_visible()
        visited.check()


def test_processes_are_beside_each_other(launched: Any, tmp_path: Path) -> None:
    write_toy(tmp_path / "rank_0")
    write_dump(tmp_path / "rank_1", index([function("toy", [toy_entry() | {"op_count": 9}])]), FILES)
    report = build_report(tmp_path)
    with visit(launched, report.page, "ranks") as visited:
        text = visited.page.inner_text(".page.ranks")
        assert "operations of toy, toy.py:4" in text and "rank 1" in text
        visited.page.select_option("#which", "p1")
        visited.page.wait_for_function("() => document.getElementById('p1-overview').hidden === false")
        visited.page.click("#p1-overview .tree a")
        visited.page.wait_for_function("() => location.hash === '#p1f0'")
        visited.check()


def test_a_frame_that_was_given_up_is_told_in_short_with_what_torch_advises(launched: Any, tmp_path: Path) -> None:
    said = "Dynamic shape\n  Explanation: the shape of `nonzero` is data.\n  Hint: set `x = True`.\n  Context: f"
    toy_compile = toy_entry()
    toy_compile |= {"failure": {"kind": "Unsupported", "reason": said, "where": None}, "hits": 1}
    report = build_report(write_dump(tmp_path, index([function("toy", [toy_compile])]), FILES))
    with visit(launched, report.page, "p0f0/c0") as visited:
        text = visited.page.inner_text(".why")
        assert "1 call served" in text and "✕ Unsupported: Dynamic shape\n" in text
        assert visited.page.inner_text(".given-up p") == "the shape of nonzero is data."
        assert visited.page.inner_text(".given-up li code") == "x = True"
        assert not visited.page.is_visible(".given-up pre")
        visited.page.click(".given-up summary")
        assert visited.page.inner_text(".given-up pre") == said
        visited.go("#breaks")
        assert "the shape of nonzero is data." in visited.page.inner_text('[data-page="breaks"]')
        visited.check()


def test_the_overview_fits_a_narrow_window(launched: Any, tmp_path: Path) -> None:
    report = build_report(write_toy(tmp_path))
    with visit(launched, report.page, "overview") as visited:
        for width in (1400, 1000, 700, 390):
            visited.page.set_viewport_size({"width": width, "height": 800})
            assert visited.page.evaluate("document.documentElement.scrollWidth") <= width
        legend = visited.page.locator(".legend .key")
        visited.page.set_viewport_size({"width": 1400, "height": 800})
        boxes = [legend.nth(number).bounding_box() for number in range(legend.count())]
        tops = {round(box["y"]) for box in boxes if box}
        assert len(tops) == 1
        visited.check()


def test_no_mark_in_the_margin_is_cut_off(launched: Any, tmp_path: Path) -> None:
    graphs = [f"__compiled_fn_{number}" for number in (121, 122, 123, 124)]
    compiles = []
    for order, name in enumerate(graphs):
        toy_compile = toy_entry() | {"id": f"0/{order}", "graphs_called": [name]}
        toy_compile["artefacts"] = [
            artefact | {"file": f"{name}.Captured_Graph.0.py"} for artefact in toy_compile["artefacts"]
        ]
        compiles.append(toy_compile)
    graph = FILES["__compiled_fn_1.Captured_Graph.0.py"]
    files = {**FILES, **{f"{name}.Captured_Graph.0.py": graph for name in graphs}}
    report = build_report(write_dump(tmp_path, index([function("toy", compiles)]), files))
    with visit(launched, report.page, "p0f0/c1") as visited:
        margin = visited.page.locator('.pane.source .ln[data-n="6"] .m')
        assert margin.inner_text().split()[-2:] == ["122", "//"] and "+" in margin.inner_text()
        left = "each.getBoundingClientRect().left"
        assert margin.evaluate(f"(each) => each.firstChild.getBoundingClientRect().left >= {left}")
        visited.check()
