"""Walks over trees: what is found, and in which order."""

from __future__ import annotations

import ast

from depyf.decompiler.passes.walk import (
    children,
    holds,
    nodes,
    of_kinds,
    rewrite_expressions,
    rewrite_sequences,
    statements,
)

SOURCE = """
if a:
    b(c)
    for d in e:
        f
else:
    g
try:
    h
except i:
    j = [k, *l]
"""
NAMES: frozenset[type[ast.expr]] = frozenset({ast.Name})


def tree() -> list[ast.stmt]:
    return ast.parse(SOURCE).body


def names(visited_nodes: list[ast.AST]) -> str:
    return "".join(node.id for node in visited_nodes if isinstance(node, ast.Name))


def test_nodes_and_statements_come_in_the_order_of_the_source() -> None:
    assert names(nodes(tree())) == "abcdefghijkl"
    kinds = [type(stmt).__name__ for stmt in statements(tree())]
    assert kinds == ["If", "Expr", "For", "Expr", "Expr", "Try", "Expr", "Assign"]


def test_children_come_in_the_order_of_their_fields() -> None:
    (stmt,) = ast.parse("f(a, *b, c=d)[{**e, g: 1}]").body
    assert isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Subscript)
    call, mapping = children(stmt.value)
    assert [type(node).__name__ for node in children(call)] == ["Name", "Name", "Starred", "keyword"]
    assert [type(node).__name__ for node in children(mapping)] == ["Name", "Name", "Constant"]
    (handler,) = ast.parse("try: a\nexcept b as c: d").body[0].handlers  # type: ignore[attr-defined]
    assert [type(node).__name__ for node in children(handler)] == ["Name", "Expr"]
    (imported,) = ast.parse("from a import b as c").body
    assert [type(node).__name__ for node in children(imported)] == ["alias"]
    assert nodes([handler])[1:] == [handler.type, *nodes(handler.body)]


def test_nodes_of_a_kind_are_found_wherever_they_stand() -> None:
    assert sorted(names(of_kinds(tree(), NAMES))) == sorted("abcdefghijkl")
    assert of_kinds(tree(), frozenset({ast.Lambda})) == []


def test_statements_of_a_kind_are_held() -> None:
    assert holds(tree(), ast.While, ast.For)
    assert not holds(tree(), ast.While)


def test_expressions_of_a_kind_are_replaced_and_no_others() -> None:
    body = tree()
    rewrite_expressions(body, lambda expr: ast.Constant(value=expr.id), NAMES)  # type: ignore[attr-defined]
    assert names(nodes(body)) == ""
    assert [type(node).__name__ for node in nodes(body)].count("Call") == 1


def test_sequences_are_rewritten_inner_ones_first() -> None:
    seen: list[list[str]] = []

    def drop_expressions(stmts: list[ast.stmt]) -> list[ast.stmt]:
        seen.append([type(stmt).__name__ for stmt in stmts])
        return [stmt for stmt in stmts if not isinstance(stmt, ast.Expr)]

    body = rewrite_sequences(tree(), drop_expressions)
    assert seen[0] == ["Expr"] and seen[-1] == ["If", "Try"]
    assert [type(stmt).__name__ for stmt in statements(body)] == ["If", "For", "Try", "Assign"]
