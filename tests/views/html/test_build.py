"""The report as files: what is written, from what, and that a user's text stays text."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from depyf.cli.commands import depyf
from depyf.views.html.build import build_report
from depyf.views.html.chunks import Chunks, as_json, read_script
from tests.dump_of_toy import FILES, HOSTILE, entry, function, index, toy_entry, write_dump, write_toy


class Elements(HTMLParser):
    """Collects the elements of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def elements(page: Path) -> list[tuple[str, dict[str, str | None]]]:
    parser = Elements()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser.found


def chunk(directory: Path, name: str) -> dict[str, object]:
    text = (directory / "report" / "data" / f"{name}.js").read_text(encoding="utf-8")
    content = read_script(text)
    assert isinstance(content, dict)
    return content


def test_a_folder_without_a_dump_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no index.json"):
        build_report(tmp_path)


def test_an_index_of_something_else_is_refused(tmp_path: Path) -> None:
    write_dump(tmp_path, {"torch": "2.13.0"}, {})
    with pytest.raises(ValueError, match="no index of depyf's"):
        build_report(tmp_path)


def test_a_page_names_nothing_outside_of_its_folder(tmp_path: Path) -> None:
    page = build_report(write_toy(tmp_path)).page
    for _, attributes in elements(page):
        for name in ("src", "href"):
            address = attributes.get(name)
            assert address is None or address.startswith(("#", "data:"))


def test_the_function_has_its_source_and_its_lines_are_linked(tmp_path: Path) -> None:
    build_report(write_toy(tmp_path))
    content = chunk(tmp_path, "p0f0")
    assert sorted(content["origins"]) == [["toy.py", line] for line in (4, 5, 6, 7, 8)]  # type: ignore[call-overload]
    (block,) = content["blocks"]  # type: ignore[misc]
    assert block["name"] == "toy" and block["first"] == 4 and block["text"].startswith("def toy(a, b):")
    (compiled,) = content["entries"]  # type: ignore[misc]
    assert [document["key"] for document in compiled["docs"]] == ["transformed", "guards", "captured_graph"]


def test_a_hostile_name_is_text_everywhere(tmp_path: Path) -> None:
    page = build_report(write_toy(tmp_path, HOSTILE)).page
    assert not [tag for tag, _ in elements(page) if tag == "img"]
    scripts = [attributes for tag, attributes in elements(page) if tag == "script"]
    assert [script.get("type") for script in scripts] == ["application/json", None]
    assert "<" not in (tmp_path / "report" / "data" / "p0f0.js").read_text(encoding="utf-8")


def test_json_cannot_end_the_element_that_it_stands_in() -> None:
    assert "<" not in as_json({"</script>": "<!--"})
    assert json.loads(as_json({"</script>": "<!--"})) == {"</script>": "<!--"}


def test_a_single_file_has_all_in_it(tmp_path: Path) -> None:
    page = build_report(write_toy(tmp_path), single_file=True).page
    assert [path.name for path in page.parent.iterdir()] == ["index.html"]
    assert "chunk-p0f0" in {attributes.get("id") for _, attributes in elements(page)}


def test_a_long_text_is_a_chunk_of_its_own(tmp_path: Path) -> None:
    files = {**FILES, "__compiled_fn_1.Captured_Graph.0.py": FILES["__compiled_fn_1.Captured_Graph.0.py"] * 100}
    build_report(write_dump(tmp_path, index([function("toy", [toy_entry()])]), files))
    (compiled,) = chunk(tmp_path, "p0f0")["entries"]  # type: ignore[misc]
    graph = compiled["docs"][-1]
    assert "text" not in graph
    text = files["__compiled_fn_1.Captured_Graph.0.py"]
    assert f"{graph['head']}{chunk(tmp_path, graph['chunk'])['text']}" == text


def test_equal_texts_share_a_chunk(tmp_path: Path) -> None:
    chunks = Chunks(tmp_path)
    assert [chunks.add_text(name, text) for name, text in (("a", "x"), ("b", "y"), ("c", "x"))] == ["a", "b", "a"]
    assert chunks.files == 2
    assert read_script((tmp_path / "data" / "b.js").read_text(encoding="utf-8")) == {"text": "y"}


def test_each_rank_is_a_process_of_the_page(tmp_path: Path) -> None:
    for rank in (0, 1):
        write_toy(tmp_path / f"rank_{rank}")
    sections = [
        attributes
        for tag, attributes in elements(build_report(tmp_path).page)
        if tag == "section" and "data-process" in attributes
    ]
    assert {attributes["data-process"] for attributes in sections} == {"p0", "p1"}


def test_ids_that_torch_gave_twice_are_two_entries(tmp_path: Path) -> None:
    functions = [function("toy", [entry("0/0")]), function("other", [entry("0/0")])]
    build_report(write_dump(tmp_path, index(functions), FILES))
    keys = [chunk(tmp_path, name)["entries"][0]["key"] for name in ("p0f0", "p0f1")]  # type: ignore[index]
    assert keys == ["c0", "c1"]


def test_the_command_prints_where_the_page_is(tmp_path: Path) -> None:
    result = CliRunner().invoke(depyf, ["report", str(write_toy(tmp_path))])
    assert result.exit_code == 0
    assert Path(result.output.strip()) == tmp_path / "report" / "index.html"


@pytest.mark.parametrize(("text", "code"), [(None, 2), ("{}", 1), ("no json", 1)])
def test_the_command_says_what_is_wrong_with_a_dump(tmp_path: Path, text: str | None, code: int) -> None:
    if text is not None:
        (tmp_path / "index.json").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(depyf, ["report", str(tmp_path)])
    assert result.exit_code == code and "depyf report:" in result.output


def test_the_page_of_breaks_says_what_the_finding_says_and_given_up_compiles_are_no_entries(tmp_path: Path) -> None:
    again = toy_entry() | {"id": "0/1", "trigger": {"kind": "recompile", "refused": []}}
    again["failure"] = {"kind": "RecompileLimitExceeded", "reason": "limit", "where": None}
    again["breaks"], first = [], toy_entry()
    first["breaks"][0] |= {"reason": "logger", "where": {"file": "toy.py", "line": 5, "function": "toy", "text": "log"}}
    page = build_report(write_dump(tmp_path, index([function("toy", [first, again])]), FILES)).page
    text = page.read_text(encoding="utf-8")
    breaks = text[text.index("<h1>Graph breaks") :]
    assert "Graph break: a logger is called." in breaks and "Fix: log outside of the compiled function" in breaks
    assert '<span class="place">toy.py:5</span> <code class="line">log</code>' in breaks
    assert '<span class="aside">1 entry</span>' in text
