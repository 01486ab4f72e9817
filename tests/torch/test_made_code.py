"""The code that will run is told after the program's own bytecode hooks. depyf is none unless it replaces code."""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch._dynamo import convert_frame

import depyf
from depyf.model.run import Transformed, Unavailable
from depyf.torch.adapters import lacking, made_code
from depyf.verify.level import Level
from tests.torch.needs import needs


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@contextmanager
def hooked(hook: object) -> Iterator[None]:
    torch._dynamo.reset()
    handle = convert_frame.register_bytecode_hook(hook)
    try:
        yield
    finally:
        handle.remove()
        torch._dynamo.reset()


def with_other_name(code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
    return new_code.replace(co_name="of_the_program") if code.co_name == "doubled" else None


@needs(lacking.structured_trace())
@pytest.mark.parametrize("is_first", [True, False])
def test_the_code_that_the_programs_hook_returns_is_shown_and_its_calls_are_counted(
    tmp_path: Path, is_first: bool
) -> None:
    seen: list[types.CodeType] = []

    def hook(code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
        renamed = with_other_name(code, new_code)
        seen.extend([renamed] if renamed is not None else [])
        return renamed

    if is_first:
        with hooked(hook), depyf.prepare_debug(tmp_path) as session:
            result = torch.compile(doubled, backend="eager")(torch.ones(2))
    else:
        with depyf.prepare_debug(tmp_path) as session, hooked(hook):
            result = torch.compile(doubled, backend="eager")(torch.ones(2))
    ((_, compiled),) = session.compiles()
    assert result.tolist() == [2.0, 2.0] and len(seen) == 1
    assert isinstance(compiled.transformed, Transformed) and compiled.transformed.level is not Level.UNPROVEN
    assert "def of_the_program(x)" in compiled.transformed.source
    if "calls that each entry served" not in session.unavailable:
        assert compiled.hits == 1


def test_a_context_is_a_hook_only_if_it_replaces_code(tmp_path: Path) -> None:
    before = len(convert_frame._bytecode_hooks)
    with depyf.prepare_debug(tmp_path / "a"):
        assert len(convert_frame._bytecode_hooks) == before
    with depyf.prepare_debug(tmp_path / "b", install=True), depyf.prepare_debug(tmp_path / "c"):
        assert len(convert_frame._bytecode_hooks) == before + 1
    assert len(convert_frame._bytecode_hooks) == before
    assert "add" not in vars(convert_frame.output_codes)


def test_listeners_may_end_in_any_order() -> None:
    events: list[str] = []
    first = made_code.watch_code(lambda code, _: events.append(f"first {code.co_name}"))
    second = made_code.watch_code(lambda code, _: events.append(f"second {code.co_name}"))
    assert not isinstance(first, Unavailable) and not isinstance(second, Unavailable)
    for end in (first, second):
        torch._dynamo.reset()
        torch.compile(doubled, backend="eager")(torch.ones(2))
        end()
    torch._dynamo.reset()
    torch.compile(doubled, backend="eager")(torch.ones(2))
    torch._dynamo.reset()
    assert events == ["first doubled", "second doubled", "second doubled"]


def test_both_sorts_of_context_get_their_own_code(tmp_path: Path) -> None:
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path / "a", install=True) as outer:
        torch.compile(doubled, backend="eager")(torch.ones(2))
        with depyf.prepare_debug(tmp_path / "b") as inner:
            torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
        torch.compile(lambda x: x + 2, backend="eager")(torch.ones(2))
    torch._dynamo.reset()
    names = [[function.name for function, _ in session.compiles()] for session in (outer, inner)]
    assert names == [["doubled", "<lambda>"], ["<lambda>"]]


def test_a_torch_that_keeps_its_code_elsewhere_calls_a_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch._dynamo.reset()
    monkeypatch.setattr(made_code, "convert_frame", types.SimpleNamespace())
    assert isinstance(made_code.watch_code(lambda *_: None), Unavailable)
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(doubled, backend="eager")(torch.ones(2))
    torch._dynamo.reset()
    ((_, compiled),) = session.compiles()
    assert isinstance(compiled.transformed, Transformed)
