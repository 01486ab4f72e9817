"""The text of a full code file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
import torch

from depyf.torch.adapters import lacking
from depyf.torch.capture import live
from depyf.torch.guards.clause import At, Clause
from depyf.torch.guards.full_code import CompiledEntry, CompiledFunction, render_full_code
from depyf.torch.guards.held import Held
from depyf.torch.guards.names import Names
from depyf.torch.guards.render import IMPORTS, render
from depyf.torch.guards.tree import Node, Tree
from examples.toy_example import toy_example
from tests.torch.needs import needs


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def toy() -> list[CompiledFunction]:
    compiled = torch.compile(toy_example, backend="eager")
    compiled(torch.ones(10), torch.ones(10))
    compiled(torch.ones(10), -torch.ones(10))
    return live.collect(toy_example)


def made(source: str, name: str, code_source: str = "def f(x): return x") -> CompiledFunction:
    """Return a function with one entry whose transformed code is `source`."""
    names: dict[str, object] = {}
    exec(code_source, names)
    function = names["f"]
    entry = CompiledEntry("3/1", Tree(), source, name, "EQUIVALENT", graphs={"__compiled_fn_4": "graph.py"})
    return CompiledFunction("f", function.__code__, "f.py", 1, code_source, [entry])  # type: ignore[attr-defined]


@needs(lacking.guard_trees())
def test_the_toy_example_in_one_file() -> None:
    full = render_full_code(toy())
    tree = ast.parse(full.text)
    compile(full.text, "<full code>", "exec")
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert {"toy_example", "original_toy_example"} <= set(defined)
    assert len([name for name in defined if name.startswith("guard_")]) == 3
    assert len(defined) == len(set(defined))
    assert full.functions[0] == "toy_example"
    assert len(full.functions) == 3
    assert ast.get_docstring(tree) and "1 entry, 2 resume functions" in full.text
    assert "#   torch_abs = torch.abs" in full.text


def test_the_resumed_lines_are_marked() -> None:
    full = render_full_code(toy())
    first = toy_example.__code__.co_firstlineno
    assert f"# > {first + 3:5}          b = b * -1" in full.text
    assert f"#   {first + 2:5}      if b.sum() < 0:" in full.text


@needs(lacking.guard_trees())
@needs(lacking.guarded_types())
def test_only_what_is_used_is_imported() -> None:
    full = render_full_code(toy())
    (imported,) = [
        node for node in ast.parse(full.text).body if isinstance(node, ast.ImportFrom) and node.module != "__future__"
    ]
    assert {alias.name for alias in imported.names} == {
        "Dispatch",
        "Entry",
        "global_state",
        "guard",
        "no_aliasing",
        "tensor",
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "def f(x):\n    y = x.f(f)\n    return f",
            "def code_3_1(x):\n    y = x.f(f)\n    return f",
        ),
        (
            "def __closure_of_f(f, c):\n    def f(x):\n        return f(c)\n    return f",
            "def __closure_of_code_3_1(f, c):\n    def code_3_1(x):\n        return f(c)\n    return code_3_1",
        ),
        ("f = lambda x: f(x)", "code_3_1 = lambda x: f(x)"),
    ],
)
def test_only_the_function_s_own_name_changes(source: str, expected: str) -> None:
    full = render_full_code([made(source, "f")])
    assert expected in full.text
    compile(full.text, "<full code>", "exec")


def test_a_graph_function_leads_to_its_file() -> None:
    assert "# __compiled_fn_4: graph.py\n" in render_full_code([made("def f(x):\n    return x", "f")]).text


@pytest.mark.parametrize(
    "source",
    ["def f(x, n=print('no')):\n    return x", "@print\ndef f(x):\n    return x", "f = lambda x: x", "", "def f("],
)
def test_a_source_that_would_do_more_than_define_is_a_comment(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    function = made("def f(x):\n    return x", "f")
    changed = CompiledFunction("f", function.code, "f.py", 1, source, function.entries)
    full = render_full_code([changed])
    names: dict[str, object] = {"original_f": None}
    exec(compile(full.text, "<full code>", "exec"), names)
    assert not capsys.readouterr().out
    assert "# original_f is the function itself, not compiled." in full.text


@pytest.mark.parametrize("name", ["guard", "tensor", "L", "G", "torch", "class", "<lambda>", "Dispatch"])
def test_any_name_of_a_function(name: str) -> None:
    function = made("def f(x):\n    return x", "f")
    full = render_full_code([CompiledFunction(name, function.code, "f.py", 1, "", function.entries)])
    compile(full.text, "<full code>", "exec")
    assert full.functions[0].isidentifier()
    assert f"def {full.functions[0]}(x):" in full.text


@pytest.mark.parametrize(
    "parameters", ["", "a, b", "a, /, b", "*rest", "a, *, k", "a, *rest, k, **options", "a, b, /, c, *, k", "**options"]
)
def test_parameters(parameters: str) -> None:
    function = made("def f():\n    pass", "f", f"def f({parameters}): return None")
    text = render_full_code([function]).text
    (defined,) = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "f"]
    assert ast.unparse(defined.args) == ast.unparse(ast.parse(f"def f({parameters}): pass").body[0].args)  # type: ignore[attr-defined]


def test_a_disagreement_is_shown_in_a_banner() -> None:
    function = made("def f(x):\n    return x", "f")
    entry = CompiledEntry("0/0", Tree(), differs="torch says one thing, these another")
    text = render_full_code([CompiledFunction("f", function.code, "f.py", 1, "", [entry])]).text
    assert "# WARNING: torch says one thing, these another\n@guard\n" in text


def test_a_text_is_taken_again_where_its_names_fit() -> None:
    gelu = Held("torch.gelu", object(), weak=False)
    long = Node(0, (At(0), '["a_module_with_a_long_name"]'), "L['model'].a_module_with_a_long_name")
    tree = Tree([Node(-1, ('L["model"]',), "L['model']"), long])
    tree.clauses = [Clause("ID", 1, (At(1), ".act is ", gelu)), Clause("LEN", 1, ("len(", At(1), ") == 2"))]
    anew = [render(Tree(tree.nodes, tree.clauses), "0/0", names) for names in (Names(IMPORTS), taking("torch_gelu"))]
    assert "torch_gelu_2" in "".join(anew[1])
    render(tree, "", Names(IMPORTS), bare=True)
    assert tree.rendered is not None
    seen = tree.rendered.clauses
    assert [render(tree, "0/0", names) for names in (Names(IMPORTS), taking("torch_gelu"))] == anew
    (own_code,) = tree.rendered.own
    assert render(tree, "0/0", taking(own_code)) == render(Tree(tree.nodes, tree.clauses), "0/0", taking(own_code))
    assert tree.rendered.clauses is seen and own_code in seen[0]


def taking(name: str) -> Names:
    """Return the names of a file in which one is taken."""
    names = Names(IMPORTS)
    names.reserve(name)
    return names


def test_a_part_of_a_longer_name_is_not_used() -> None:
    full = render_full_code([made("def f(x):\n    return guards(no_guard, exists(x))\n", "f")])
    imported = next(line for line in full.text.splitlines() if line.startswith("    Dispatch"))
    assert "exists" in imported and "equals" not in imported
