"""Real output of Dynamo is proven equivalent to what a person would write, and not to what is nearly that."""

from __future__ import annotations

import ast
import itertools
import re
import types
from collections.abc import Callable, Iterator

import pytest
import torch
import torch._dynamo
from torch._dynamo.convert_frame import register_bytecode_hook

from depyf.bytecode.reader import read
from depyf.errors import DecompilationError
from depyf.verify.assumptions import Assumptions
from depyf.verify.candidate.recompile import recompile
from depyf.verify.compare import verify
from depyf.verify.level import Level, Verdict
from tests.quality.mutations import KINDS


def capture(function: Callable[..., object], *args: object) -> list[types.CodeType]:
    """Return the codes that Dynamo writes for a function and for what it resumes in."""
    codes: list[types.CodeType] = []
    torch._dynamo.reset()
    handle = register_bytecode_hook(lambda old, new: codes.append(new))
    try:
        with torch._dynamo.config.patch(record_runtime_overhead=False):
            torch.compile(function, backend="eager")(*args)
    finally:
        handle.remove()
    return codes


def branches(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def breaks(x: torch.Tensor, y: torch.Tensor) -> object:
    z = x + 1
    print("hi")
    return z * y, {"a": x}


def closes(x: torch.Tensor) -> torch.Tensor:
    cell = x.sum()

    def inner():  # type: ignore[no-untyped-def]
        nonlocal cell
        cell = cell + 1
        return cell

    print("hi")
    return inner() + x


def enclosed() -> Callable[..., object]:
    state, unused = torch.ones(3), torch.ones(3)

    def inner(x: torch.Tensor) -> torch.Tensor:
        nonlocal state
        y = x * unused
        state = state + y
        print("hi")
        return y + state

    return inner


def guarded(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    with torch.no_grad():
        print("hi")
        y = y * 2
    return y


def stacks(x: torch.Tensor, y: torch.Tensor) -> object:
    return [x + 1, print("hi"), {"a": y * 2, "b": (x.sum().item(), y)}], max(x.sum().item(), 3)


# Per function, per code that Dynamo wrote for it: what a person would write. COMPILED, RESUME and BUILTINS stand for
# the names that Dynamo makes up.
TEXTS: dict[str, list[str]] = {
    "branches": [
        """
def branches(a, b):
    graph_out = COMPILED_0(a, b)
    lt = graph_out[0]
    x = graph_out[1]
    if lt:
        return RESUME_0([], [], b, x)
    return RESUME_1([], [], b, x)
""",
        """
def resumed(__nested_resume_fns, __nested_frame_values, b, x):
    return COMPILED_0(x, b)[0]
""",
    ],
    "breaks": [
        """
def breaks(x, y):
    graph_out = COMPILED_0(x)
    show = BUILTINS_0["print"]
    z = graph_out[0]
    shown = show("hi")
    return RESUME_0([], [], shown, x, y, z)
""",
        """
def resumed(__nested_resume_fns, __nested_frame_values, ___stack0, x, y, z):
    return COMPILED_0(z, y)[0], {"a": x}
""",
    ],
    "closes": [
        """
def closes(x):
    graph_out = COMPILED_0(x)
    show = BUILTINS_0["print"]
    g = FUNCTIONS_0._create_nested_fn(CODE, GLOBALS, "inner", None, (lambda: cell).__closure__, None, None)
    cell = graph_out[0]
    shown = show("hi")
    return RESUME_0((lambda: cell).__closure__)([], [], shown, x, g)
""",
    ],
    "enclosed": [
        """
def __closure_of_inner(state, unused):
    def inner(x):
        nonlocal state
        graph_out = COMPILED_0(x, unused, state)
        show = BUILTINS_0["print"]
        y = graph_out[0]
        state = graph_out[1]
        stack = show("hi")
        return RESUME_0((lambda: (state, unused)).__closure__)([], [], stack, y)
    return inner
""",
    ],
    "guarded": [
        """
def guarded(x):
    graph_out = COMPILED_0(x)
    grad = IMPORT_0.set_grad_enabled
    show = BUILTINS_0["print"]
    y = graph_out[0]
    manager = IMPORT_0.set_grad_enabled(False)
    manager.__enter__()
    try:
        shown = show("hi")
    except:
        manager.__exit__(None, None, None)
        raise
    manager.__exit__(None, None, None)
    return RESUME_0([], [], grad, shown, y)
""",
    ],
    "stacks": [
        """
def stacks(x, y):
    graph_out = COMPILED_0(x)
    first = graph_out[0]
    shown = BUILTINS_0["print"]("hi")
    return RESUME_0([], [], first, shown, x, y)
""",
    ],
}

PREFIXES = {
    "COMPILED": "__compiled_fn_",
    "RESUME": "__resume_at_",
    "BUILTINS": "__builtins_dict__",
    "FUNCTIONS": "__import_torch_dot__dynamo_dot_variables_dot_functions",
    "IMPORT": "__import_torch",
}
FUNCTIONS: dict[str, Callable[..., object]] = {
    "branches": branches,
    "breaks": breaks,
    "closes": closes,
    "enclosed": enclosed(),
    "guarded": guarded,
    "stacks": stacks,
}


def fill(text: str, code: types.CodeType) -> str:
    """Put the names of one compilation into a text."""
    for word, prefix in PREFIXES.items():
        names = sorted({name for name in code.co_names if name.startswith(prefix)})
        for number, name in enumerate(names):
            text = re.sub(rf"\b{word}_{number}\b", name, text)
    return text


def placeholders(code: types.CodeType) -> dict[str, object]:
    """Return what CODE and GLOBALS stand for: constants that have no literal."""
    names = {types.CodeType: "CODE", dict: "GLOBALS"}
    return {names[type(const)]: const for const in code.co_consts if type(const) in names}


def verdict(text: str, code: types.CodeType, assumptions: Assumptions) -> Verdict:
    """Verify a text as the stand-in of a code."""
    candidate = recompile(text, code, filename="stand_in.py", placeholders=placeholders(code))
    assert types.FunctionType(candidate, {}, "f", None, tuple(types.CellType() for _ in code.co_freevars))
    return verify(read(code), read(candidate), assumptions)


@pytest.fixture(scope="module", params=TEXTS)
def sample(request: pytest.FixtureRequest) -> list[tuple[types.CodeType, str]]:
    """Return the codes of one function with their texts."""
    function = FUNCTIONS[request.param]
    codes = capture(function, *[torch.ones(3) for _ in range(function.__code__.co_argcount)])
    return [(code, fill(text, code)) for code, text in zip(codes, TEXTS[request.param], strict=False)]


def test_a_written_stand_in_is_equivalent(sample: list[tuple[types.CodeType, str]]) -> None:
    for code, text in sample:
        proof = verdict(text, code, Assumptions())
        assert proof.level >= Level.EQUIVALENT, f"{proof}\n{text}"


def test_no_mutant_of_a_stand_in_is_equivalent(sample: list[tuple[types.CodeType, str]]) -> None:
    survivors = []
    count = 0
    for code, text in sample:
        for changed in mutants(text):
            count += 1
            try:
                proof = verdict(changed, code, Assumptions())
            except DecompilationError:
                continue
            if proof.level > Level.UNPROVEN:
                survivors.append(changed)
    assert count > 10
    assert not survivors, "\n".join(survivors)


def mutants(text: str) -> Iterator[str]:
    """Yield every version of a text with one change that matters."""
    for finder in KINDS.values():
        for number, _ in enumerate(finder(innermost(ast.parse(text)))):
            tree = ast.parse(text)
            next(itertools.islice(finder(innermost(tree)), number, None))()
            yield ast.unparse(ast.fix_missing_locations(tree))


def innermost(tree: ast.Module) -> ast.AST:
    """Return the function in a text, without the wrapper around it."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)][-1]


def test_unpacking_is_two_subscripts_only_where_the_length_is_known() -> None:
    code = capture(branches, torch.ones(3), torch.ones(3))[0]
    text = """
def branches(a, b):
    lt, x = COMPILED_0(a, b)
    if lt:
        return RESUME_0([], [], b, x)
    return RESUME_1([], [], b, x)
"""
    compiled = next(name for name in code.co_names if name.startswith("__compiled_fn_"))
    levels = [
        verdict(fill(text, code), code, Assumptions(lengths)).level for lengths in ({}, {compiled: 3}, {compiled: 2})
    ]
    assert levels == [Level.UNPROVEN, Level.UNPROVEN, Level.EQUIVALENT]
