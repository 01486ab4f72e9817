"""Code that equals earlier code but for counted names is decompiled once, and shown under its own names."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
import torch
from torch._dynamo.bytecode_transformation import unique_id

import depyf
from depyf.decompiler import function
from depyf.model.run import Compile, Session, Transformed
from depyf.torch.adapters import lacking
from depyf.torch.capture import equal_codes
from depyf.verify.level import Level

pytestmark = pytest.mark.skipif(lacking.structured_trace() is not None, reason="the names of graphs are not told")

HAS_LONG_NAMES = "with_uuid" in inspect.signature(unique_id).parameters
"""Whether torch's own names of graphs end in random digits; the text has short ones."""


@pytest.fixture
def decompiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the names of all functions that are decompiled."""
    names: list[str] = []
    real = function.decompile_function

    def noting(code, **options):
        names.append(code.co_name)
        return real(code, **options)

    monkeypatch.setattr(function, "decompile_function", noting)
    return names


def recompiled(directory: Path, function, values, **options: bool) -> Session:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager", dynamic=False)
    with depyf.prepare_debug(directory, **options) as session:
        for value in values:
            compiled(torch.ones(3), value)
    torch._dynamo.reset()
    return session


def shown(compiled: Compile) -> Transformed:
    assert isinstance(compiled.transformed, Transformed)
    return compiled.transformed


_GRAPH = re.compile(r"__(compiled_fn|resume_at|builtins_dict)_[\d_]+")


def scaled(x, n):
    return x + 1 if n == "a" else x * 2


def broken(x, n):
    y = x + 1 if n == "a" else x * 2
    print(end="")
    return y.sin()


def branching(x, n):
    return (x.cos(), n * 10) if n < 3 else [x.sin()]


def test_recompiles_are_decompiled_once_and_call_their_own_graphs(tmp_path: Path, decompiled: list[str]) -> None:
    session = recompiled(tmp_path, scaled, ["b", "c", "d", "e"])
    compiles = [compiled for _, compiled in session.compiles()]
    assert (len(compiles), decompiled) == (4, ["scaled"])
    for compiled in compiles:
        (name,) = compiled.compiled_fns
        assert shown(compiled).level is not Level.UNPROVEN
        assert f"{name}(" in shown(compiled).source
        assert f"{name}(" in (tmp_path / shown(compiled).file).read_text(encoding="utf-8")
        assert (name in shown(compiled).names) == HAS_LONG_NAMES


def test_each_resume_function_is_called_by_its_own_name(tmp_path: Path, decompiled: list[str]) -> None:
    session = recompiled(tmp_path, broken, ["b", "c", "d"])
    callers = [compiled for _, compiled in session.compiles() if compiled.resumes]
    assert len(callers) == 3 and decompiled.count("broken") == 1
    for caller in callers:
        assert all(f"{name}(" in shown(caller).source for name in (*caller.compiled_fns, *caller.resumes))


def test_the_dump_is_the_same_where_each_code_is_decompiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def texts(directory: Path) -> list[str]:
        recompiled(directory, broken, ["b", "c", "d"])
        names = sorted(directory.glob("__transformed*"))
        return [_GRAPH.sub("graph", path.read_text(encoding="utf-8")) for path in names]

    once = texts(tmp_path / "once")
    monkeypatch.setattr(equal_codes, "_key", lambda *_: None)
    assert once == texts(tmp_path / "each") and len(once) == 4


def test_code_with_other_constants_or_steps_is_decompiled_anew(tmp_path: Path, decompiled: list[str]) -> None:
    session = recompiled(tmp_path, branching, [1, 2, 5])
    sources = [shown(compiled).source for _, compiled in session.compiles()]
    assert len(decompiled) == len(set(sources)) == 3
    assert ", 10" in sources[0] and ", 20" in sources[1]


def test_what_runs_from_its_file_is_proven_by_itself(tmp_path: Path, decompiled: list[str]) -> None:
    session = recompiled(tmp_path, scaled, ["b", "c"], install=True)
    assert decompiled == ["scaled", "scaled"]
    assert all(shown(compiled).installed for _, compiled in session.compiles())


def test_the_code_of_a_file_is_the_proven_code_under_its_own_names(tmp_path: Path, decompiled: list[str]) -> None:
    session = recompiled(tmp_path, scaled, ["b", "c"], log_bytecode=True)
    assert decompiled == ["scaled"]
    for _, compiled in session.compiles():
        assert (shown(compiled).installed, shown(compiled).reason) == (False, "")
        assert compiled.compiled_fns[0] in shown(compiled).recompiled_bytecode


def test_debug_runs_each_of_equal_codes_from_its_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: "")
    torch._dynamo.reset()
    compiled = torch.compile(scaled, backend="eager", dynamic=False)
    with depyf.prepare_debug(tmp_path) as session:
        for value in ("b", "c", "a"):
            compiled(torch.ones(3), value)
    with depyf.debug():
        results = [compiled(torch.full((3,), 3.0), value) for value in ("b", "c", "a")]
    assert [result[0].item() for result in results] == [6.0, 6.0, 4.0]
    assert all(shown(compiled).file for _, compiled in session.compiles())
    torch._dynamo.reset()
