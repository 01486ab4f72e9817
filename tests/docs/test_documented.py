"""Every code block of the documentation is run, and every output that it shows is real."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scripts.documented.blocks import PageError, Role, blocks, commands
from scripts.documented.compare import matches, renewed
from scripts.documented.run import ROOT, Output, difference, pages, rewritten, run_page

ON = ("2.13", "3.11")
"""The torch and the Python whose output the pages show."""
FENCE = "`" * 3


def _needs_the_versions() -> None:
    torch = pytest.importorskip("torch", reason="the pages compile functions")
    pytest.importorskip("click", reason="the pages use the command line")
    here = (".".join(torch.__version__.split(".")[:2]), "{}.{}".format(*sys.version_info))
    if here != ON:
        pytest.skip(f"the pages show the output of torch {ON[0]} on Python {ON[1]}")


def _with_code() -> list[Path]:
    run = (Role.PYTHON, Role.CONSOLE, Role.FILE)
    return [page for page in pages() if any(block.role in run for block in blocks(page.read_text(encoding="utf-8")))]


@pytest.fixture(scope="module")
def outputs_of(request: pytest.FixtureRequest) -> Iterator[Callable[[Path], list[Output]]]:
    """Run the pages that were asked for, two at a time: most of their time is torch being imported."""
    _needs_the_versions()
    chosen = [item.callspec.params["page"] for item in request.session.items if "outputs_of" in item.fixturenames]
    with ThreadPoolExecutor(2) as pool:
        running = {page: pool.submit(run_page, page) for page in chosen}
        yield lambda page: running[page].result()
        pool.shutdown(cancel_futures=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", _with_code(), ids=lambda page: page.stem)
def test_a_page_shows_what_its_blocks_print(page: Path, outputs_of: Callable[[Path], list[Output]]) -> None:
    wrong = [difference(page, output) for output in outputs_of(page) if not output.is_right]
    assert not wrong, "\n".join([*wrong, f"python -m scripts.documented --write {page.relative_to(ROOT)}"])


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_every_block_is_run_by_somebody(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8"), page.name):
        if block.role is Role.ELSEWHERE:
            assert (ROOT / block.name).is_file(), f"{page.name}:{block.first_line} names a test that is not there"
        if block.role is Role.CONSOLE:
            assert list(commands(block.text))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    text = re.sub(rf"^{FENCE}.*?^{FENCE}$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_blocks_by_their_language_and_the_comment_above() -> None:
    page = f"""
<!-- file: a.py -->
{FENCE}python
x = 1
{FENCE}

{FENCE}python
print(1)
{FENCE}

{FENCE}text
1
{FENCE}

<!-- numbers vary -->
{FENCE}console
$ date
Mon
$ ls \\
  -l
{FENCE}

<!-- tests/docs/test_documented.py runs it -->
{FENCE}toml
a = 1
{FENCE}
"""
    page_blocks = blocks(page)
    assert [block.role for block in page_blocks] == [Role.FILE, Role.PYTHON, Role.OUTPUT, Role.CONSOLE, Role.ELSEWHERE]
    assert page_blocks[3].varies
    assert [(command.text, command.shown) for command in commands(page_blocks[3].text)] == [
        ("date\n", "Mon\n"),
        ("ls \\\n  -l\n", ""),
    ]


@pytest.mark.parametrize("block", [f"{FENCE}text\nan output of nothing\n{FENCE}\n", f"{FENCE}\nwhat?\n{FENCE}\n"])
def test_a_block_that_nobody_runs_is_an_error(block: str) -> None:
    with pytest.raises(PageError, match="nobody runs"):
        blocks(block)


@pytest.mark.parametrize(
    ("shown", "actual", "varies", "expected"),
    [
        ("a\n", "a\n\n", False, True),
        ("a\n", "b\n", False, False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", False, True),
        ("a\n...\nd\n", "a\nd\n", False, True),
        ("a\n...\nd\n", "a\nb\n", False, False),
        ("took ... s\n", "took 1.5 s\n", False, True),
        ("took ... s\n", "took 1.5 s\nmore\n", False, False),
        ("took 1.5 s\n", "took 12.25 s\n", False, False),
        ("took   1.5 s\n", "took 112.25 s\n", True, True),
        ("took 1.5 s\n", "took 1.5 hours\n", True, False),
        ("(a|b)*\n", "aab\n", False, False),
    ],
)
def test_what_an_output_may_be(shown: str, actual: str, varies: bool, expected: bool) -> None:
    assert matches(shown, actual, varies=varies) is expected


def test_a_renewed_output_keeps_what_is_left_out_where_it_still_fits() -> None:
    assert renewed("took ... s\nold\n", "took 2 s\nnew\n") == "took ... s\nnew\n"
    assert renewed("a\n...\n", "a\nb\nc\n") == "a\n...\n"


def test_a_page_is_run_and_its_outputs_are_written_into_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = f"""# Page

{FENCE}python
x = 2
{FENCE}

{FENCE}python
print(x + 1)
{FENCE}

{FENCE}text
?
{FENCE}

<!-- file: said.txt -->
{FENCE}text
hello
{FENCE}

{FENCE}console
$ cat said.txt
?
$ python -c 'print(4)'
{FENCE}
"""
    page.write_text(text, encoding="utf-8")
    outputs = run_page(page)
    assert [output.actual for output in outputs] == ["3\n", "hello\n", "4\n"]
    assert not any(output.is_right for output in outputs)
    written = rewritten(text, outputs)
    assert f"{FENCE}text\n3\n{FENCE}" in written
    assert "$ cat said.txt\nhello\n$ python -c 'print(4)'\n4\n" in written
    page.write_text(written, encoding="utf-8")
    assert all(output.is_right for output in run_page(page))


def test_a_block_that_fails_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{FENCE}python\nraise KeyError('mine')\n{FENCE}\n", encoding="utf-8")
    with pytest.raises(PageError, match="mine"):
        run_page(page)
    assert not Output(1, "x", "x", False, went_well=False).is_right
