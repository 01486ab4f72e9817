"""Run the pipeline: turn a `Code` and its nested code into statements."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from depyf.bytecode.code import Code
from depyf.bytecode.host import pausing
from depyf.bytecode.listing import Listing
from depyf.bytecode.listings import Listings
from depyf.decompiler.lift.simplify import Known
from depyf.decompiler.lift.writable import is_writable
from depyf.decompiler.passes.body import Bodies, Body
from depyf.decompiler.passes.comprehensions import NAMES as COMPREHENSION_NAMES
from depyf.decompiler.passes.identifiers import are_writable
from depyf.decompiler.passes.names import Names, variables_in
from depyf.decompiler.passes.scopes import declare, own_variables, shadow, variables_of
from depyf.decompiler.passes.type_params import type_params_in
from depyf.decompiler.passes.unreached import NOTHING_REACHED
from depyf.decompiler.pipeline.table import ALONE, BUILD, LAST, NOTHING, SCOPES, TOGETHER
from depyf.decompiler.pipeline.work import Fault, Work, run_passes
from depyf.decompiler.steps import Stopped, present
from depyf.decompiler.structure.choices import WAYS, Choices, Dispatch
from depyf.decompiler.structure.inlined import ITERATOR
from depyf.decompiler.structure.labels import Unresolved
from depyf.decompiler.structure.loops import Irreducible
from depyf.decompiler.structure.unstructured import Unstructured
from depyf.errors import DecompilationError

NO_CODES: frozenset[int] = frozenset()
MOST_SHARED = 1 << 14
"""The most additional copies of code objects that occur several times."""


@pausing
def decompile(
    code: Code,
    *,
    known: Known | None = None,
    without: frozenset[str] = NOTHING,
    listings: Listings | None = None,
    apart: AbstractSet[int] = NO_CODES,
) -> tuple[Body, Names]:
    """Return the statements of a code object, including those of nested code, and the invented names.

    Args:
        code: the outermost code object.
        known: rewrite program-written code to its most readable form (`lift/simplify`), with these facts about the
            results of globals; None keeps the code as it is.
        without: names of optional passes to leave out.
        listings: of code that was read before; those of this code are added.
        apart: identities of nested code objects whose definitions need no body.

    Raises:
        DecompilationError: the code is invalid or unsupported.
    """
    bodies: Bodies = {}
    shared = Listings() if listings is None else listings
    order = nested(code, lambda code_object: id(code_object) not in apart and makes_functions(code_object, shared))
    for inner in order if apart else ():
        if id(inner) in apart:
            bodies[id(inner)] = Body(inner, [])
            declare(bodies[id(inner)], NOTHING_REACHED)
    order = [code_object for code_object in order if id(code_object) not in bodies]
    check_sharing(order)
    rows = [shared.with_lines(code_object) for code_object in order]
    names = _names(code, rows)
    temps, params = 0, type_params_in(order)
    for inner, listing in zip(order, rows, strict=True):
        work = Work(inner, names, bodies, temps, known if inner is code else None, without, listing)
        temps = _statements(work)
        _finish(work, params.get(id(inner), NOTHING), whole=inner is code)
        bodies[id(inner)] = work.body
    return bodies[id(code)], names


def _names(code: Code, rows: list[Listing]) -> Names:
    """Return the names of all variables of a code object and its nested code."""
    names = Names(set(), rows=rows)
    said: set[str] = set()
    for listing in rows:
        inner = listing.code
        identifiers = {*inner.names, *inner.varnames, *inner.cellvars, *inner.freevars}
        if inner is not code and inner.name in COMPREHENSION_NAMES and variables_in(listing).count(ITERATOR) == 1:
            identifiers.discard(ITERATOR)  # It is the iterable of the comprehension.
        if len({*inner.varnames, *inner.freevars}) < len(inner.varnames) + len(inner.freevars):
            identifiers.update(variables_in(listing))  # Variables with the same name are numbered.
        said |= identifiers
    names.says_variables = all(map(is_writable, said))
    names.are_writable = are_writable(rows)
    return names


def always(code: Code) -> bool:
    """Include the code nested in any code object."""
    return True


def makes_functions(code: Code, listings: Listings) -> bool:
    """Return whether code makes functions of its nested code objects; otherwise they are ordinary constants."""
    if not any(isinstance(const, Code) for const in code.consts):
        return False
    return "MAKE_FUNCTION" in listings.with_lines(code).ops


def nested(code: Code, opens: Callable[[Code], bool] = always) -> list[Code]:
    """Return a code object and its nested ones, each once, every one after its nested ones.

    Args:
        opens: returns whether to include the code nested in one.
    """
    order: list[Code] = []
    seen: set[int] = set()
    work = [(code, False)]
    while work:
        current, is_ready = work.pop()
        if is_ready:
            order.append(current)
        elif id(current) not in seen:
            seen.add(id(current))
            work.append((current, True))
            if opens(current):
                work.extend((const, False) for const in reversed(current.consts) if isinstance(const, Code))
    return order


def check_sharing(order: list[Code]) -> None:
    """Raise DecompilationError for code objects that contain each other so often that their source explodes."""
    sizes: dict[int, int] = {}
    for code in order:
        sizes[id(code)] = 1 + sum(sizes.get(id(const), 0) for const in code.consts if isinstance(const, Code))
        if sizes[id(code)] > len(order) + MOST_SHARED:
            reason = f"more than {MOST_SHARED} code objects inside each other are the same"
            raise DecompilationError(reason, code=str(code))


def _statements(work: Work) -> int:
    """Make the statements of one code object, without nested ones; return the number of temporaries so far."""
    recorder = present()
    if recorder is not None:
        recorder.begin(work)
    # Only an expression can replace a lambda or comprehension.
    is_forced = BUILD in work.without and (not work.code.name.startswith("<") or work.code.name == "<module>")
    ways = [way for way in WAYS if not is_forced or isinstance(way, Dispatch)]
    if SCOPES in work.without:
        ways.remove(Dispatch.SCOPES)
    work.without -= {BUILD, SCOPES}
    try:
        while ways:
            choices = work.choices = ways[0]
            if isinstance(choices, Choices) and not choices.goes_beyond:
                if not (work.listing.beyond or work.listing.loops):
                    del ways[0]
                    continue
            try:
                run_passes(work, ALONE)
            except (Unstructured, Unresolved, Irreducible, Fault) as error:
                _go_on(work, error, ways)
                if recorder is not None:
                    recorder.attempt(work, str(error))
                continue
            break
    except Stopped:
        work.stmts = []
    work.forget()
    return work.graph.temps


def _go_on(work: Work, error: Exception, ways: list[Choices | Dispatch]) -> None:
    """Drop the failed way, or its failed optional pass."""
    if isinstance(error, Fault) and error.failed.optional and error.failed.name not in (BUILD, SCOPES):
        work.without |= {error.failed.name}
    elif isinstance(error, Irreducible):
        # Loops stay irreducible however their exits are written.
        failed = ways[0]
        beyond = isinstance(failed, Choices) and failed.goes_beyond
        ways[:] = [way for way in ways if not isinstance(way, Choices) or way.goes_beyond != beyond]
    elif len(ways) > 1:
        del ways[0]
    elif isinstance(error, DecompilationError):
        raise error
    else:
        raise DecompilationError(str(error), code=str(work.code)) from error
    if isinstance(error, Fault):
        warnings.warn(f"{error} on {work.code}; it is decompiled in another way", RuntimeWarning, stacklevel=2)


def _of_comprehensions(work: Work) -> frozenset[str]:
    """Return the variables that only inlined comprehensions bind: nested code sees globals of these names."""
    if "LOAD_FAST_CLEAR" not in work.ops:
        return frozenset()
    cleared = frozenset(str(item.arg) for item in work.listing.instructions if item.op == "LOAD_FAST_CLEAR")
    named = {var.id for var in own_variables(work.stmts, around=True, apart=[]) if var.scope != "global"}
    return cleared.difference(named, work.code.parameters, work.code.cellvars, work.code.freevars)


def _finish(work: Work, params: frozenset[str], *, whole: bool) -> None:
    """Insert the statements of nested code objects; `params` are the free variables that are type parameters."""
    work.body = Body(work.code, work.stmts, type_params=params)
    local = variables_of(work.code) - _of_comprehensions(work)
    for const in work.code.consts:
        inner = work.bodies.get(id(const)) if isinstance(const, Code) else None
        if inner is not None:
            shadow(inner, local, work.bodies)
            work.body.global_reads |= inner.global_reads
    try:
        run_passes(work, TOGETHER)
        if whole:
            run_passes(work, LAST)
    except Stopped:
        work.body.stmts = []
    except Fault as fault:
        raise DecompilationError(str(fault), code=str(work.code)) from fault
