"""Passes on graphs and on trees, text in and text out: the cases are in `tests/decompiler/forms`.

    python -m tests.decompiler.test_forms     writes what the passes give into the files; read the difference
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from depyf.bytecode.code import Code
from depyf.bytecode.normalise import normalise
from depyf.bytecode.reader import read
from depyf.decompiler.emit.grammar import Grammar
from depyf.decompiler.graph.tac import Branch, Graph
from depyf.decompiler.lift.simplify.containers import evaluate_containers
from depyf.decompiler.lift.simplify.dead import remove_dead
from depyf.decompiler.lift.simplify.promote import promote_variables
from depyf.decompiler.lift.simplify.restored import drop_restored
from depyf.decompiler.lift.simplify.results import unpack_results
from depyf.decompiler.lift.simulate import lift
from depyf.decompiler.passes.at_once import use_at_once
from depyf.decompiler.passes.body import Body
from depyf.decompiler.passes.flow.asserts import restore_asserts
from depyf.decompiler.passes.flow.heads import restore_heads
from depyf.decompiler.passes.flow.matches import restore_matches
from depyf.decompiler.passes.flow.opposites import write_opposites
from depyf.decompiler.passes.flow.tidy import tidy
from depyf.decompiler.passes.flow.tries import restore_tries
from depyf.decompiler.pipeline import table
from depyf.decompiler.pipeline.work import Stage
from depyf.decompiler.show import tree
from depyf.decompiler.show.graph import text
from depyf.decompiler.show.read_graph import NoGraph, read_graph
from depyf.decompiler.show.read_tree import NoTree, read_tree
from depyf.decompiler.structure.class_ends import end_class
from depyf.decompiler.structure.collapse import collapse
from depyf.decompiler.structure.copies import join_copies
from depyf.decompiler.structure.dropped_copies import join_dropped_copies
from depyf.decompiler.structure.exits import join_exits
from depyf.decompiler.structure.labels import resolve
from depyf.decompiler.structure.patterns.copied import join_copied_bodies
from depyf.decompiler.structure.patterns.hoist import hoist_behind_cases
from depyf.decompiler.structure.regions.except_star import restore_except_star
from depyf.decompiler.structure.regions.table import Regions
from depyf.decompiler.structure.same_ends import join_same_ends
from depyf.decompiler.structure.shared_ends import share_ends
from depyf.decompiler.structure.thread import thread
from tests.pipeline.samples import functions
from tests.quality.forms.around import forms

FOLDER = Path(__file__).parent / "forms"
UNCHANGED = "unchanged"


def _share_ends(graph: Graph) -> None:
    graph.end = len(graph.blocks) - 1
    share_ends(graph)


def _join_copied_bodies(graph: Graph) -> None:
    tests = [block for block in graph.live() if isinstance(block.exit, Branch)]
    graph.waiting = {block.exit.cond: list(block.stack) for block in tests if isinstance(block.exit, Branch)}
    join_copied_bodies(graph)


def _blocks(graph: Graph) -> range:
    return range(len(graph.blocks))


PASSES: dict[str, Callable[[Graph], object]] = {
    "class_ends": end_class,
    "collapse": lambda graph: collapse(graph, dict.fromkeys(_blocks(graph), 0), False),
    "containers": evaluate_containers,
    "copied": _join_copied_bodies,
    "copies": lambda graph: join_copies(graph, dict.fromkeys(_blocks(graph), ())),
    "dead": remove_dead,
    "dropped_copies": join_dropped_copies,
    "except_star": restore_except_star,
    "exits": join_exits,
    "promote": promote_variables,
    "restored": drop_restored,
    "results": lambda graph: unpack_results(graph, {"graph": ("one", "two")}),
    "same_ends": join_same_ends,
    "shared_ends": _share_ends,
    "thread": lambda graph: thread(graph, set(), Regions(graph)),
}

Tree = list[Any]
TREES: dict[str, Callable[[Tree, Code], object]] = {
    "asserts": lambda body, _: restore_asserts(body),
    "at_once": lambda body, code: use_at_once(body, frozenset(code.parameters)),
    "heads": lambda body, _: restore_heads(body, keeps_lists=True),
    "hoist": hoist_behind_cases,
    "labels": lambda body, code: resolve(body, Graph(code, [], [], 0)),
    "matches": lambda body, _: restore_matches(body),
    "opposites": lambda body, _: write_opposites(body, negates=True),
    "tidy": lambda body, _: tidy(body),
    "tries": lambda body, _: restore_tries(body),
}
"""Passes on statements. One that returns nothing changes them in place. Others are found in the table of passes."""
ON_ITEMS = frozenset({"hoist", "labels"})


def _registered(name: str) -> Callable[[Tree, Code], object]:
    """Return a pass on statements from the table of passes, which needs no entry here."""
    (row_of_pass,) = [row for row in table.PASSES if row.name == name]

    def change(body: Tree, code: Code) -> object:
        listing = normalise(code)
        work = types.SimpleNamespace(
            stmts=body, body=Body(code, body), code=code, listing=listing, ops=listing.ops, known=None, bodies={}
        )
        row_of_pass.run(work)
        return work.body.stmts if row_of_pass.stage in (Stage.BODY, Stage.WHOLE) else work.stmts

    return change


def _pass_on_tree(name: str, shown: str, code: Code) -> tuple[str, str]:
    grammar = Grammar.of(code)
    body = read_tree(shown, code, are_items=name in ON_ITEMS)
    before = tree.text(body, grammar)
    given = (TREES.get(name) or _registered(name))(body, code)
    return before, tree.text(body if given is None else cast("Tree", given), grammar)


@dataclass(frozen=True)
class Case:
    """What one pass makes of one graph or tree: `source` is what it is of."""

    title: str
    source: str
    before: str
    after: str

    @property
    def pass_name(self) -> str:
        return self.title.partition(":")[0]

    def given(self) -> str:
        code = code_of(self.source)
        if self.pass_name not in PASSES:
            before, after = _pass_on_tree(self.pass_name, self.before, code)
        else:
            graph = read_graph(self.before, code)
            before = text(graph)
            PASSES[self.pass_name](graph)
            after = text(graph)
        return UNCHANGED + "\n" if after == before else after


def code_of(source: str) -> Code:
    """Return the code of the function or class that a source defines, or of the module."""
    module = compile(source, "<form>", "exec")
    inner = [const for const in module.co_consts if isinstance(const, types.CodeType)]
    return read(inner[0] if inner else module)


def cases(file: Path) -> list[Case]:
    case_list = []
    for part in file.read_text(encoding="utf-8").split("## ")[1:]:
        title, _, rest = part.partition("\n")
        source, before, after = ([*rest.split("---\n"), ""])[:3]
        case_list.append(Case(title, source, before.strip("\n") + "\n", after.strip("\n") + "\n"))
    return case_list


FILES = sorted(FOLDER.glob("*.txt"))
CASES = [case for file in FILES for case in cases(file)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_pass_gives_what_stands_below_it(case: Case) -> None:
    assert case.given() == case.after


@pytest.mark.parametrize("name", sorted({*PASSES, *TREES, *(case.pass_name for case in CASES)}))
def test_each_pass_has_a_case_and_a_near_miss(name: str) -> None:
    of_pass = [case for case in CASES if case.pass_name == name]
    assert any(case.after != f"{UNCHANGED}\n" for case in of_pass)
    assert any(case.after == f"{UNCHANGED}\n" for case in of_pass)


def test_what_is_shown_is_read_back() -> None:
    read_back = cut_off = 0
    for code in functions(40):
        shown = text(lift(normalise(read(code))))
        try:
            assert text(read_graph(shown, read(code))) == shown
            read_back += 1
        except NoGraph:
            cut_off += 1
    assert read_back > 4 * cut_off


@pytest.mark.parametrize("name", ["build", "labels", "heads", "tidy"])
def test_what_is_shown_of_a_tree_is_read_back(name: str) -> None:
    read_back = refused = 0
    for code in map(read, functions(40)):
        for _, shown in forms(code, name, with_before=False)[-1:]:
            try:
                assert tree.text(read_tree(shown, code, are_items=name == "build"), Grammar.of(code)) == shown
                read_back += 1
            except NoTree:
                refused += 1
    assert read_back > 2 * refused


@pytest.mark.parametrize("shown", ["goto somewhere", "f(<Function code=f>)", "for a in .0:\n    pass"])
def test_what_is_no_tree_is_refused(shown: str) -> None:
    with pytest.raises(NoTree):
        read_tree(shown, code_of("x = 1"))


@pytest.mark.parametrize("shown", ["  :1     v0 = LOAD_FAST", "block 0\n  goes on", "block 0\n  :1     v0 = CONST <a>"])
def test_what_is_no_graph_is_refused(shown: str) -> None:
    with pytest.raises(NoGraph):
        read_graph(shown, code_of("x = 1"))


def written(case: Case) -> str:
    """Return a case as it stands in a file."""
    return f"## {case.title}\n{case.source}---\n{case.before}---\n{case.after}"


def write() -> None:
    """Write what the passes give into the files."""
    for file in FILES:
        parts = [written(dataclasses.replace(case, after=case.given())) for case in cases(file)]
        file.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    write()
