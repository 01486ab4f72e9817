"""Records that depyf passes over are not made while it listens alone; whoever else listens gets all of them."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
import torch

import depyf
from depyf.model.run import GuardSet
from depyf.torch.adapters import lacking, seams, unheard
from depyf.torch.capture.active import ACTIVE
from depyf.trace import refusals, stages
from depyf.trace.records import record_kind
from tests.torch import programs
from tests.torch.needs import needs

pytestmark = needs(lacking.structured_trace())


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.payloads: dict[str, list[str | None]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        kind = record_kind(record.metadata)[0]  # type: ignore[attr-defined]
        self.payloads.setdefault(kind, []).append(record.payload)  # type: ignore[attr-defined]


def _heard(listener: _Listener, tmp_path: Path) -> dict[str, list[str | None]]:
    """Return what a listener hears while a program is compiled in a context."""
    torch._dynamo.reset()
    logger = logging.getLogger(seams.TRACE_LOGGER)
    logger.addHandler(listener)
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(programs.straight, backend="eager")(torch.ones(3))
    logger.removeHandler(listener)
    assert all(isinstance(compiled.guards, GuardSet) for _, compiled in session.compiles())
    return listener.payloads


@contextmanager
def _heard_alone() -> Iterator[dict[str, list[str | None]]]:
    """Give the payloads that depyf gets by kind, while nobody else listens."""
    payloads: dict[str, list[str | None]] = {}
    take = ACTIVE.on_record

    def taken(metadata: Mapping[str, Any], payload: str | None) -> None:
        payloads.setdefault(record_kind(metadata)[0], []).append(payload)
        take(metadata, payload)

    with _nobody_listens(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(ACTIVE, "on_record", taken)
        yield payloads


@contextmanager
def _nobody_listens() -> Iterator[logging.Logger]:
    """Take out whoever listens, pytest for one, which puts its handlers in when a test is called."""
    with pytest.MonkeyPatch.context() as patch:
        logger = logging.getLogger(seams.TRACE_LOGGER)
        patch.setattr(logger, "handlers", [])
        yield logger


def test_nothing_is_made_that_nobody_hears(tmp_path: Path) -> None:
    torch._dynamo.reset()
    with _heard_alone() as heard, depyf.prepare_debug(tmp_path):
        torch.compile(programs.straight, backend="eager")(torch.ones(3))
    assert stages.FRAME_STARTS in heard
    assert not {"describe_tensor", "describe_storage", "describe_source"} & heard.keys()
    assert heard[stages.GUARD_TREE] == [None]


def test_no_log_record_is_made_that_nobody_hears(tmp_path: Path) -> None:
    """A program that makes log records of a class of its own sees none of torch's trace."""
    torch._dynamo.reset()
    names_heard: list[str] = []
    usual = logging.getLogRecordFactory()

    def own(name: str, *args: Any, **kwargs: Any) -> logging.LogRecord:
        names_heard.append(name)
        return usual(name, *args, **kwargs)

    with _nobody_listens(), depyf.prepare_debug(tmp_path) as session:
        logging.setLogRecordFactory(own)
        try:
            torch.compile(programs.straight, backend="eager")(torch.ones(3))
        finally:
            logging.setLogRecordFactory(usual)
    assert seams.TRACE_LOGGER not in names_heard
    ((_, compiled),) = session.compiles()
    assert compiled.seconds["total"] > 0 and compiled.op_count


def test_what_depyf_hears_alone_is_what_torch_writes(tmp_path: Path) -> None:
    """The same compile makes the same dump, whether torch makes log records or not."""
    dumps = []
    for alone in (True, False):
        torch._dynamo.reset()
        with _nobody_listens() as logger:
            if not alone:
                logger.addHandler(_Listener())
            with depyf.prepare_debug(tmp_path / str(alone)) as session:
                compiled = torch.compile(programs.straight, backend="aot_eager")
                for size in (3, 4):
                    compiled(torch.ones(size, requires_grad=True)).sum().backward()
        compiles = [
            (compiled.trigger, compiled.op_count, compiled.guard_count, len(compiled.artefacts))
            for _, compiled in session.compiles()
        ]
        names = sorted(re.sub(r"fn_\d+", "fn", path.name) for path in (tmp_path / str(alone)).rglob("*.py"))
        dumps.append((compiles, names))
    assert dumps[0] == dumps[1]


def test_another_listener_gets_all_records(tmp_path: Path) -> None:
    heard = _heard(_Listener(), tmp_path)
    assert {"describe_tensor", "describe_storage", "describe_source"} <= heard.keys()
    assert all(heard[stages.GUARD_TREE])


def test_a_listener_that_comes_later_gets_all_records(tmp_path: Path) -> None:
    with _nobody_listens(), depyf.prepare_debug(tmp_path / "around"):
        heard = _heard(_Listener(), tmp_path / "inside")
    assert {"describe_tensor", "describe_storage", "describe_source"} <= heard.keys()
    assert all(heard[stages.GUARD_TREE])


def test_torch_has_its_function_back(tmp_path: Path) -> None:
    before = torch._logging.trace_structured
    with _nobody_listens(), depyf.prepare_debug(tmp_path):
        assert torch._logging.trace_structured is not before
    assert torch._logging.trace_structured is before


def test_dynamo_looks_at_no_frame_of_ours(tmp_path: Path) -> None:
    torch._dynamo.reset()

    def step(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        loss = (x * w).sum()
        if loss > 0:  # The backward is compiled behind the break, where Dynamo looks at every frame.
            loss = loss * 2
        loss.backward()
        return loss

    with _nobody_listens(), depyf.prepare_debug(tmp_path) as session:
        torch.compile(step, backend="aot_eager")(torch.ones(3), torch.ones(3, requires_grad=True))
    ours = str(Path(depyf.__file__).parent)
    assert [frame for frame in session.skipped if str(frame).find(ours) >= 0] == []


def _reasons(tmp_path: Path, *, alone: bool) -> list[str | None]:
    """Return the records of why entries refused a call, as depyf hears them by itself, or beside somebody else."""
    torch._dynamo.reset()
    listener = _Listener()

    def either(x: torch.Tensor, s: str) -> torch.Tensor:
        return x + 1 if s == "it's \"a\"" else x * 2

    with _heard_alone() as heard:
        if not alone:
            logging.getLogger(seams.TRACE_LOGGER).addHandler(listener)
        with depyf.prepare_debug(tmp_path):
            compiled = torch.compile(either, backend="eager", dynamic=False)
            for text in ("it's \"a\"", "b", "c\n", "d"):
                compiled(torch.ones(3), text)
    return (heard if alone else listener.payloads)["recompile_reasons"]


@needs(lacking.refusals())
def test_a_list_of_texts_is_not_joined_and_says_the_same(tmp_path: Path) -> None:
    alone, beside = (_reasons(tmp_path / name, alone=name == "alone") for name in ("alone", "beside"))
    assert len(alone) == 3 and len(beside) == 3
    assert [refusals.recompile(reason or "") for reason in beside if reason is not None] == [
        refusals.recompile(reason) for reason in alone if reason is not None
    ]
    assert alone[-1] == "" and len(str(beside[-1])) > 100


def test_torchs_settings_are_left_alone_where_torch_lists_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._dynamo.config as config
    import torch.utils._config_module as module

    entry = config._config["_save_config_ignore"]
    if not hasattr(entry, "user_override"):
        pytest.skip("this torch keeps settings otherwise")
    unset = module._UNSET_SENTINEL
    fresh = ContextVar("fresh", default=unset) if isinstance(entry.user_override, ContextVar) else unset
    monkeypatch.setattr(entry, "user_override", fresh)

    def payload(name: str) -> None:
        unheard._payload(stages.ARTEFACT, {"name": name}, lambda: str(config._save_config_ignore))

    payload(stages.RUNNABLE)
    assert unheard._override(entry) is unset
    payload("another")
    assert unheard._override(entry) is not unset
    set_by_the_program = {"a"}
    with config.patch(_save_config_ignore=set_by_the_program):
        payload(stages.RUNNABLE)
        assert unheard._override(entry) is set_by_the_program


class _Pair(torch.Tensor):
    """A wrapper of two tensors whose text is counted."""

    shown = 0

    @staticmethod
    def __new__(cls, a: torch.Tensor, b: torch.Tensor) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, a.size(), dtype=a.dtype, device=a.device)

    def __init__(self, a: torch.Tensor, b: torch.Tensor) -> None:
        self.a, self.b = a, b

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner: Mapping[str, torch.Tensor], _: None, size: Any, stride: Any) -> _Pair:
        return _Pair(inner["a"], inner["b"])

    def __repr__(self, **_: Any) -> str:
        _Pair.shown += 1
        return "a pair"

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        a, b = (
            function(*(getattr(argument, name) if isinstance(argument, _Pair) else argument for argument in arguments))
            for name in ("a", "b")
        )
        return _Pair(a, b)


@pytest.mark.parametrize("is_loaded", [True, False])
def test_the_text_of_a_subclass_is_not_made_for_a_record(tmp_path: Path, is_loaded: bool) -> None:
    def run() -> tuple[list[float], list[float], int]:
        """Return the results, and how often the text of a pair was made: torch 2.9 itself makes some."""
        torch._dynamo.reset()
        _Pair.shown = 0
        output = torch.compile(lambda x: x * 2 + 1, backend="aot_eager")(_Pair(torch.ones(2), torch.zeros(2)))
        return output.a.tolist(), output.b.tolist(), _Pair.shown

    with _nobody_listens():
        plain = run() if is_loaded else None  # AOTAutograd is loaded before the context, or in it.
        with depyf.prepare_debug(tmp_path) as session:
            inside = run()
        assert inside == (plain or run()) and inside[:2] == ([3.0, 3.0], [1.0, 1.0])
    assert [compiled.failure for _, compiled in session.compiles()] == [None]


def test_an_error_in_the_text_of_a_record_stays_outside_of_the_program() -> None:
    taken: list[str | None] = []

    def fails() -> str:
        raise NotImplementedError("no text")

    unheard._hand_over(lambda _, payload: taken.append(payload), "artifact", lambda: {"name": "x"}, payload_fn=fails)
    assert taken == ["# torch cannot write this here: NotImplementedError: no text\n"]


def test_no_module_of_torchs_keeps_the_function_of_a_context(tmp_path: Path) -> None:
    def holders() -> dict[str, object]:
        modules = {name: module for name, module in sys.modules.items() if name.startswith("torch.")}
        return {name: vars(module).get("trace_structured") for name, module in modules.items()}

    with _nobody_listens(), depyf.prepare_debug(tmp_path):
        torch.compile(programs.straight, backend="aot_eager")(torch.ones(3))
        inside = set(holders().values())
    after = set(holders().values())
    assert len(inside) == len(after) == 2 and inside != after, "None and one function"
