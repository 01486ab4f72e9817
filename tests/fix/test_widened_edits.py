"""Edits that move a report behind the graph, rewrite a statement, or make a function once."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("libcst", reason="depyf[fix] installs it")

import libcst as cst

from depyf.fix.edit import RefusedError
from depyf.fix.edits import rewrites
from depyf.fix.edits.hoists import hoisted
from depyf.fix.edits.reports import reported, reporter_after
from depyf.fix.trees import names_of_module

HEAD = "import torch\nLOG = 1\n\n\ndef f(x, n):\n"


@pytest.mark.parametrize(
    ("statement", "call", "parameters", "body"),
    [
        ('print(f"{x.sum().item():.2f}")', "(x)", "(x)", 'print(f"{x.sum().item():.2f}")'),
        ("LOG.info('%d', n, extra=x)", "(n, x)", "(n, x)", "LOG.info('%d', n, extra=x)"),
        ("print(self.step, x.step)", "(self.step, x)", "(step, x)", "print(step, x.step)"),
        ("print('done', len(str(1)))", "()", "()", "print('done', len(str(1)))"),
    ],
)
def test_a_report_becomes_a_function(statement: str, call: str, parameters: str, body: str) -> None:
    edited = reported(cst.parse_module(f"{HEAD}    {statement}\n    return x\n"), 6).code
    assert f"    report_6{call}\n    return x\n" in edited
    assert f"\n\n@torch.compiler.disable\ndef report_6{parameters}:\n    {body}\n" in edited
    assert edited.endswith("torch._dynamo.config.reorderable_logging_functions.add(report_6)\n")
    compile(edited, "made", "exec")


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("y = print(x)", "no statement of one call"),
        ("x.add_(1)", "only reports"),
        ("print([a for a in x])", "more than expressions"),
        ("print(*x)", "more than expressions"),
        ("print(y := x)", "more than expressions"),
    ],
)
def test_no_report(statement: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        reported(cst.parse_module(f"{HEAD}    {statement}\n"), 6)


HELPER = 'import torch\n\n\ndef tell(x):\n    """Tell."""\n    print(x)\n\n\ndef f(x):\n    tell(x)\n    return x\n'


def test_a_function_that_only_reports_is_called_after_the_graph() -> None:
    edited = reporter_after(cst.parse_module(HELPER), 6).code
    assert "\n\n@torch.compiler.disable\ndef tell(x):\n" in edited
    assert "\n\ntorch._dynamo.config.reorderable_logging_functions.add(tell)\n\n\ndef f(x):\n    tell(x)\n" in edited


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (HELPER.replace("    print(x)\n", "    print(x)\n    x.add_(1)\n"), "only reports"),
        (HELPER.replace("    print(x)\n", "    print(x)\n    for y in x:\n        print(y)\n"), "more than report"),
        (HELPER.replace("    tell(x)\n", "    y = tell(x)\n"), "otherwise"),
        (HELPER.replace("    tell(x)\n", "    tell(x)\n    tell.x = 1\n"), "otherwise"),
    ],
)
def test_a_function_that_does_more_stays(text: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        reporter_after(cst.parse_module(text), 6)


def test_a_report_of_no_function_is_refused() -> None:
    with pytest.raises(RefusedError, match="in no function"):
        reported(cst.parse_module("import torch\nfor x in y:\n    print(x)\n"), 3)
    with pytest.raises(RefusedError, match="import torch"):
        reported(cst.parse_module("def f(x):\n    print(x)\n"), 2)


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (rewrites.without_break, "torch._dynamo.graph_break()", ""),
        (rewrites.with_clone, "y = copy.deepcopy(x) + 1", "y = x.clone() + 1"),
        (rewrites.with_copy, "y.data = x * 2", "y.copy_(x * 2)"),
        (rewrites.with_view, "x.unsqueeze_(0)", "x = x.unsqueeze(0)"),
        (rewrites.with_tensor, "n = x.max().item()", "n = x.max().detach()"),
        (rewrites.with_tensor, "n = float(x.max()) + 1", "n = x.max().detach() + 1"),
        (rewrites.with_tensor, "n = (x + y).item()", "n = (x + y).detach()"),
    ],
)
def test_a_statement_is_rewritten(change: rewrites.Change, before: str, after: str) -> None:
    edited = change(cst.parse_module(f"{before}\nz = 1\n"), 1).code
    assert edited == (f"{after}\n" if after else "") + "z = 1\n"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (rewrites.without_break, "x = graph_break()\n"),
        (rewrites.with_clone, "y = copy.copy(x)\n"),
        (rewrites.with_clone, "y = copy.deepcopy(x, memo)\n"),
        (rewrites.with_copy, "self.y.data = x\n"),
        (rewrites.with_tensor, "n = x.tolist()\n"),
        (rewrites.with_view, "y = x.t_()\n"),
        (rewrites.with_view, "self.x.t_()\n"),
        (rewrites.with_view, "x.t()\n"),
    ],
)
def test_a_rewrite_refuses_another_statement(change: rewrites.Change, text: str) -> None:
    with pytest.raises(RefusedError):
        change(cst.parse_module(text), 1)


def test_only_the_called_function_is_enabled() -> None:
    text = "".join(f"@torch.compiler.disable\ndef {name}(x):\n    return x\n\n\n" for name in "ab") + "y = a(1)\n"
    module = cst.parse_module(text)
    assert [node.name.value for node in rewrites.left_out(module, 11)] == ["a"]
    assert rewrites.without_disable(module, 0, "a").code == text.replace("@torch.compiler.disable\ndef a", "def a")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for i in r:\n    f = lambda x: x * 2\n    s(i, f)\n", "f = lambda x: x * 2\nfor i in r:\n    s(i, f)\n"),
        (
            "while c:\n    x = 1\n    def f(x): return x\n    s(f)\n",
            "def f(x): return x\nwhile c:\n    x = 1\n    s(f)\n",
        ),
        ("for i in r:\n    g = torch.compile(h)\n    g(i)\n", "g = torch.compile(h)\nfor i in r:\n    g(i)\n"),
    ],
)
def test_a_definition_goes_before_the_loop(before: str, after: str) -> None:
    assert hoisted(cst.parse_module(before)).code == after


@pytest.mark.parametrize(
    "text",
    [
        "for i in r:\n    f = lambda x: x * i\n    s(f)\n",
        "for i in r:\n    f = lambda x, n=i: x * n\n    s(f)\n",
        "for i in r:\n    k = i\n    def f(x): return x + k\n    s(f)\n",
        "for i in r:\n    f = lambda x: x\n    f = wrapped(f)\n",
        "for i in r:\n    s(i)\n",
    ],
)
def test_a_definition_of_the_round_stays(text: str) -> None:
    with pytest.raises(RefusedError):
        hoisted(cst.parse_module(text))


def test_names_of_a_module() -> None:
    text = "import a.b, c as d\nfrom e import f as g, h\nx, y = 1, 2\nz: int = 1\nclass C: pass\ndef k(): pass\n"
    assert names_of_module(cst.parse_module(text)) == {"a", "d", "g", "h", "x", "y", "z", "C", "k"}
