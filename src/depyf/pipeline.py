"""The whole decompiler on one page: from a `Code` to statements."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from depyf.bytecode.code import Code
from depyf.bytecode.listing import Listing
from depyf.bytecode.normalise import normalise
from depyf.errors import DecompilationError
from depyf.lift.simplify import Results, simplify
from depyf.lift.simulate import lift
from depyf.lift.tac import Graph
from depyf.passes.annotations import restore_annotations
from depyf.passes.asserts import restore_asserts
from depyf.passes.body import Bodies, Body
from depyf.passes.complete import check_complete
from depyf.passes.definitions import restore_functions
from depyf.passes.expressions import finish_expressions
from depyf.passes.generators import keep_generator
from depyf.passes.heads import restore_heads
from depyf.passes.inlined import inlined_operation
from depyf.passes.leftovers import Names, finish_leftovers
from depyf.passes.matches import restore_matches
from depyf.passes.scopes import declare, shadow
from depyf.passes.tidy import tidy
from depyf.passes.tries import restore_tries
from depyf.structure.budget import nests_too_deep
from depyf.structure.build import Builder, Unstructured
from depyf.structure.choices import ORDER, Choices
from depyf.structure.class_ends import end_class
from depyf.structure.collapse import collapse
from depyf.structure.copies import join_copies
from depyf.structure.dispatch import dispatch
from depyf.structure.inlined import find_inlined, replace_inlined, saving_blocks
from depyf.structure.labels import Unresolved, resolve
from depyf.structure.loops import Irreducible
from depyf.structure.nests import cut, find_markers, join_ends, nests
from depyf.structure.patterns.cases import join_cases
from depyf.structure.patterns.hoist import hoist_behind_cases
from depyf.structure.regions.async_for import restore_async_for
from depyf.structure.regions.except_star import restore_except_star
from depyf.structure.regions.recognise import recognise
from depyf.structure.thread import thread


def decompile(code: Code, *, results: Results | None = None, flat: bool = False) -> tuple[Body, Names]:
    """Return the statements of a code object, those of nested code objects inside them, and the names made up.

    results: rewrite code that a program wrote to what reads best (`lift/simplify`), with this known of what globals
        return; None leaves the code as it is.

    Raises DecompilationError for code that is not valid or has a form that is not understood.
    """
    bodies: Bodies = {}
    order = nested(code)
    names = Names({name for one in order for name in (*one.varnames, *one.names, *one.cellvars, *one.freevars)})
    temps = 0
    for inner in order:
        orders = () if flat and (not inner.name.startswith("<") or inner.name == "<module>") else ORDER
        bodies[id(inner)], temps = _one(inner, bodies, temps, names, results if inner is code else None, orders)
    finish_leftovers(bodies[id(code)], names)
    return bodies[id(code)], names


def nested(code: Code) -> list[Code]:
    """Return a code object and those inside it, every one after those inside it."""
    order: list[Code] = []
    work = [code]
    while work:
        present = work.pop()
        order.append(present)
        work.extend(const for const in present.consts if isinstance(const, Code))
    return order[::-1]


def _one(
    code: Code,
    bodies: Bodies,
    temps: int,
    names: Names,
    results: Results | None,
    orders: Sequence[Choices],
) -> tuple[Body, int]:
    stmts, temps = _statements(code, temps, names, results, orders)
    body = Body(code, stmts)
    for const in code.consts:
        if isinstance(const, Code):
            shadow(bodies[id(const)], code, bodies)
            body.global_reads |= bodies[id(const)].global_reads
    stmts = keep_generator(restore_annotations(stmts, code), code)
    body.stmts = restore_functions(stmts, bodies)
    declare(body)
    return body, temps


def _statements(
    code: Code, temps: int, names: Names, results: Results | None, orders: Sequence[Choices]
) -> tuple[list[ast.stmt], int]:
    """Return the statements of one code object, and the number of temporaries so far."""
    listing = normalise(code)
    for choices in orders:
        graph = _lifted(listing, temps, names, results)
        try:
            return _structured(graph, choices), graph.temps
        except (Unstructured, Unresolved, Irreducible):
            continue
    graph = _lifted(listing, temps, names, results)
    stmts = restore_heads(dispatch(graph, restore_matches))
    check_complete(stmts)
    if nests_too_deep(stmts):
        raise DecompilationError("statements would be nested deeper than Python takes them", code=str(code))
    names.hints.update(graph.hints)
    finish_expressions(stmts)
    return stmts, graph.temps


def _lifted(listing: Listing, temps: int, names: Names, results: Results | None) -> Graph:
    graph = lift(listing, temps)
    if results is not None:
        simplify(graph, results)
        names.hints.update(graph.hints)
        names.taken -= _unused_variables(graph)
    _restore_inlined(graph)
    return graph


def _unused_variables(graph: Graph) -> set[str]:
    """Return the variables of a code object that no operation of its graph names: their names are free."""
    used = {inst.arg for block in graph.live() for inst in block.insts if isinstance(inst.arg, str)}
    return set(graph.code.varnames) - used - set(graph.code.parameters)


def _restore_inlined(graph: Graph) -> None:
    """Put one operation in place of the loop of each comprehension that stands in this code, inner ones first."""
    blocks = saving_blocks(graph)
    while blocks:
        inlined = find_inlined(graph, blocks.pop(0))
        if inlined is None:
            continue
        try:
            operation = inlined_operation(inlined, _structured(inlined.graph, Choices()))
        except (Unstructured, Unresolved, Irreducible):
            continue
        if operation is not None:
            replace_inlined(graph, inlined, operation)
            blocks = saving_blocks(graph)


def _structured(graph: Graph, choices: Choices) -> list[ast.stmt]:
    """Structure a graph.

    Raises Unstructured, Unresolved or Irreducible if it cannot be done with statements alone.
    """
    code = graph.code
    end_class(graph)
    restore_async_for(graph)
    restore_except_star(graph)
    join_ends(graph)
    recognised = recognise(graph)
    markers = find_markers(graph)
    cut(graph, markers)
    nest = nests(graph, markers)
    thread(graph, markers, recognised.regions)
    join_copies(graph)
    scopes: dict[tuple[int, tuple[int, ...]], int] = {}
    scope = {
        block.index: scopes.setdefault((block.handler, nest[block.index]), len(scopes)) for block in graph.live()
    }
    join_cases(graph, scope)
    uses = collapse(graph, scope, code.name == "<lambda>")
    items = Builder(graph, recognised, nest, uses, choices).build()
    hoist_behind_cases(items)
    stmts = resolve(items, graph.end)
    stmts = restore_matches(stmts)
    stmts = restore_asserts(stmts)
    stmts = restore_tries(stmts)
    stmts = restore_heads(stmts)
    check_complete(stmts)
    if nests_too_deep(stmts):
        raise Unstructured("statements are nested deeper than Python takes them")
    finish_expressions(stmts)
    tidy(stmts)
    return stmts
