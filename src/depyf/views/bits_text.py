"""The comparison of two recorded runs as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from depyf.findings.bits_compared import DIFFERENT, EQUAL, NOT_COMPARED, BitsComparison, ChainLink, FirstDifference
from depyf.model.bits_log import ModuleRow
from depyf.model.counts import counted
from depyf.model.user_line import UserLine
from depyf.model.user_source import short_path

MOST_NAMES = 4
"""The most inputs and facts that are named in the text; the JSON has all."""


def bits_lines(comparison: BitsComparison, names: tuple[str, str], about_values: list[str]) -> Iterator[str]:
    """Yield the lines of the text.

    Args:
        comparison: the comparison.
        names: the names of the two runs, as the user wrote them.
        about_values: the lines about the values of the first kernel that differs.
    """
    ours, theirs = names
    yield f"{ours} against {theirs}, bit by bit: hashes of what each kernel wrote"
    yield from _facts(comparison, names)
    total = sum(sum(link.calls.values()) for link in comparison.chain.values())
    graphs, calls = counted(len(comparison.pairs), "graph"), counted(comparison.calls, "call")
    yield (
        f"compared: {graphs}, {calls}, {_launches(total)}: "
        f"{comparison.count(EQUAL)} equal, {comparison.count(DIFFERENT)} different, "
        f"{comparison.count(NOT_COMPARED)} not compared"
    )
    if comparison.first is not None:
        yield from _first(comparison.first, names)
        yield from about_values
    elif comparison.is_equal:
        yield f"No difference: {_launches(comparison.count(EQUAL))} with equal hashes"
    else:
        yield "Nothing was compared"
    yield from (f"not compared: {reason}" for reason in comparison.not_compared)
    if comparison.calls:
        yield "not compared: what Inductor does not compile, such as the optimizer, except by the inputs of later calls"


def _facts(comparison: BitsComparison, names: tuple[str, str]) -> Iterator[str]:
    facts = list(comparison.facts.items())
    for name, (ours, theirs) in facts[:MOST_NAMES]:
        yield f"{name}: {ours} in {names[0]}, {theirs} in {names[1]}"
    if len(facts) > MOST_NAMES:
        more = [name for name, _ in facts[MOST_NAMES:]]
        yield f"and {counted(len(more), 'more setting')} with other values: {', '.join(more)}"


def _launches(number: int) -> str:
    return counted(number, "kernel launch", "kernel launches")


def title_of_module(module: ModuleRow) -> str:
    """Return the words for a module: its part, its function and compile id."""
    name = f" of `{module.function}`" if module.function else ""
    return f"the {module.part}{name}, compile {module.compile_id or 'not known'}"


def _first(first: FirstDifference, names: tuple[str, str]) -> Iterator[str]:
    ours = first.modules[0]
    equal = f"Equal through {_launches(first.equal_before)}"
    if first.not_compared_before:
        equal += f" ({first.not_compared_before} more could not be compared)"
    where = f"call {first.call + 1} of {title_of_module(ours)}"
    kernel = first.kernel
    if kernel is None:
        yield f"{equal}. First difference: {counted(len(first.inputs), 'input')} of {where}:"
        for given in first.inputs[:MOST_NAMES]:
            types = given.types[0] if given.types[0] == given.types[1] else f"{given.types[0]} and {given.types[1]}"
            yield f"  `{given.name}` ({types})"
        if len(first.inputs) > MOST_NAMES:
            yield f"  and {len(first.inputs) - MOST_NAMES} more"
        yield "  Cause: no kernel that was compared gave these: they come from other data, or code outside of Inductor"
        return
    mine, other = (launch.kernel for launch in kernel.launches)
    what = f"`{mine}`" if mine == other else f"`{mine}` (`{other}` in {names[1]})"
    yield f"{equal}. First difference: {what}{place_of(kernel.result.where)}"
    yield f"  in {where}; node {kernel.result.node or 'not known'}, {kernel.types[0]}"
    yield f"  the inputs of this call are equal, as far as both runs have them: {first.inputs_compared} were compared"
    if kernel.same_code is not None:
        yield f"  the kernel has {'the same code' if kernel.same_code else 'other code'} in both runs"


def place_of(where: UserLine | None) -> str:
    """Return the words for a user's line behind a kernel's name, or ""."""
    return "" if where is None else f", {short_path(where.filename)}:{where.line} `{where.text}`"


def bits_json(comparison: BitsComparison, names: tuple[str, str]) -> dict[str, Any]:
    """Return the comparison as plain data: the form of `docs/bits.schema.json`."""
    return {
        "schema": 1,
        "kind": "runs",
        "sides": list(names),
        "equal": comparison.is_equal,
        "facts": {name: list(values) for name, values in comparison.facts.items()},
        "graphs": len(comparison.pairs),
        "calls": comparison.calls,
        "kernels": [_kernel_json(link) for link in comparison.chain.values()],
        "first": None if comparison.first is None else _first_json(comparison.first),
        "not_compared": comparison.not_compared,
    }


def _kernel_json(link: ChainLink) -> dict[str, Any]:
    where = next((result.where for result in link.launch.results if result.where is not None), None)
    return {
        "kernel": link.launch.kernel,
        "compile": link.module.compile_id,
        "function": link.module.function,
        "part": link.module.part,
        "position": link.position,
        "where": where_json(where),
        "status": link.status,
        "calls": {status: link.calls[status] for status in (EQUAL, DIFFERENT, NOT_COMPARED)},
        "first_different_call": link.first_call if link.first_call >= 0 else None,
    }


def where_json(where: UserLine | None) -> dict[str, Any] | None:
    """Return a user's line as plain data."""
    if where is None:
        return None
    return {"file": short_path(where.filename), "line": where.line, "text": where.text, "function": where.function}


def _first_json(first: FirstDifference) -> dict[str, Any]:
    ours, kernel = first.modules[0], first.kernel
    place = {
        "compile": ours.compile_id,
        "function": ours.function,
        "part": ours.part,
        "call": first.call,
        "equal_before": first.equal_before,
        "not_compared_before": first.not_compared_before,
        "inputs_compared": first.inputs_compared,
        "inputs": [{"name": given.name, "types": list(given.types)} for given in first.inputs],
    }
    if kernel is None:
        return place | {"kernels": [], "position": None, "node": "", "where": None, "type": "", "same_code": None}
    return place | {
        "kernels": [launch.kernel for launch in kernel.launches],
        "position": kernel.positions[0][0],
        "node": kernel.result.node,
        "where": where_json(kernel.result.where),
        "type": kernel.types[0],
        "same_code": kernel.same_code,
    }
