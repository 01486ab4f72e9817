"""Temporaries are named after what is in them, or after where they go."""

from __future__ import annotations

import ast

import pytest

from depyf.decompiler.lift.nodes import Temp
from depyf.decompiler.passes.telling import hint_names


def hints_of(source: str) -> dict[int, str]:
    """Return the hints for the temporaries t1, t2, ... of a source."""

    class Temps(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802  (as ast has it)
            return Temp(temp=int(node.id[1:])) if node.id[1:].isdigit() and node.id[0] == "t" else node

    hints: dict[int, str] = {}
    hint_names(Temps().visit(ast.parse(source)).body, hints)
    return hints


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("t1 = layer._parameters['weight']", "weight"),
        ("t1 = self.config", "config"),
        ("t1 = xs[0]", "xs_0"),
        ("t1 = type(x).__mro__[2]", "mro_2"),
        ("t1 = load(x)", "load_result"),
        ("t1 = COUNT", "COUNT"),
        ("t1 = object.__new__(DynamicCache)", "dynamic_cache"),
        ("t1 = HTTPServer.__new__(HTTPServer)", "http_server"),
        ("t1 = C.__new__(ModelOutputWithPastAndAttentions)", "model_output_with_past"),
        ("t1 = kind.__new__(kind)", "new_kind"),
        ("t1 = [a]; x.layers = t1", "layers"),
        ("t1 = [a]; x['layers'] = t1", "layers"),
        ("t1 = [a]; put(x, 'layers', t1)", "layers"),
        ("t1 = [a]; y = Ordered({'layers': t1})", "layers"),
        ("t1 = {}; f(a, **t1)", "kwargs"),
        ("t1 = {}; f(a, b=t1)", "b"),
        ("for t1 in d.keys(): pass", "key"),
        ("for t2, t1 in d.items(): pass", "value"),
        ("t1 = xs.pop; x.other = t1", "pop"),
        ("t1 = object.__new__", "new"),
        ("t1 = x.__new__(); y.a = t1", "a"),
        ("t1 = __import__(x); y.a = t1", "a"),
        ("t1 = t2[0]; y.a = t1", "a"),
        ("t1 = f()(); y.a = t1", "a"),
        ("t1 = x.__.__(); y.a = t1", "a"),
        ("t1 = x[-1]; y.a = t1", "a"),
        ("t1 = C.__new__(AVeryLongNameThatHasNoEndAndGoesOn)", "a_very_long_name_that"),
        ("t1 = C.__new__(Averylongnamewithoutanyhumpsinit)", "averylongnamewithoutanyhumpsinit"),
        ("t1 = x.__[0]; y.a = t1", "a"),
        ("f({'layers': x, 'others': t1})", "others"),
        ("f({x: t1, 'others': t1})", "others"),
    ],
)
def test_a_name_that_tells(source: str, name: str) -> None:
    assert hints_of(source)[1] == name


@pytest.mark.parametrize(
    "source",
    [
        "t1 = [a]",
        "t1 = a + b",
        "t1 = xs[-1]",
        "t1 = x['not a name']; y[0] = t1",
        "x['class'] = t1",
        "for t1 in xs: pass",
        "for t1 in d.keys(x): pass",
        "for t1 in keys(): pass",
        "for t1, x in d.items(): pass",
        "f({'layers': x})",
        "f({x: t1})",
        "f(x, 'layers', y)",
        "f(k=x)",
    ],
)
def test_nothing_suggests_itself(source: str) -> None:
    assert hints_of(source) == {}


def test_the_names_of_values_that_others_are_taken_from() -> None:
    assert hints_of("t1 = layer.attn\nt2 = t1[0]\nt3 = t1(t2)") == {1: "attn", 2: "attn_0", 3: "attn_result"}
