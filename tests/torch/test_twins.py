"""Modules that are heard have a twin of their logger; `logging` has the logger itself, as it was."""

from __future__ import annotations

import logging
import sys
import types
from collections.abc import Iterator

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.torch.adapters.twins import hear  # noqa: E402 - after the check that torch is there

LOG = logging.getLogger("heard.part")


@pytest.fixture
def modules() -> Iterator[tuple[types.ModuleType, types.ModuleType]]:
    """Two modules of one package that have the logger."""
    modules_heard = types.ModuleType("heard"), types.ModuleType("heard.part")
    for module in modules_heard:
        vars(module)["log"] = LOG
        sys.modules[module.__name__] = module
    yield modules_heard
    for module in modules_heard:
        del sys.modules[module.__name__]


Modules = tuple[types.ModuleType, types.ModuleType]


def test_the_logger_is_as_it_was_while_modules_are_heard(
    modules: Modules, caplog: pytest.LogCaptureFixture
) -> None:
    before, heard = dict(vars(LOG)), list[object]()
    end = hear(LOG, "heard", lambda message, args: heard.append((message, args)))
    assert logging.getLogger("heard.part") is LOG and vars(LOG) == before
    LOG.warning("not of a module")
    for module in modules:
        module.log.warning("of %s", module.__name__)
    end()
    assert heard == [("of %s", ("heard",)), ("of %s", ("heard.part",))]
    assert [record.getMessage() for record in caplog.records] == ["not of a module", "of heard", "of heard.part"]
    assert {record.pathname for record in caplog.records} == {__file__}
    assert all(module.log is LOG for module in modules)


def test_levels_are_those_of_the_logger(modules: Modules, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[object] = []
    end = hear(LOG, "heard", lambda message, args: heard.append(message), is_curious=True)
    twin = modules[0].log
    assert twin.isEnabledFor(logging.DEBUG) and not LOG.isEnabledFor(logging.DEBUG)
    twin.debug("heard alone")
    twin.setLevel(logging.DEBUG)
    assert LOG.level == logging.DEBUG
    twin.debug("recorded too")
    LOG.setLevel(logging.NOTSET)
    end()
    assert heard == ["heard alone", "recorded too"]
    assert [record.getMessage() for record in caplog.records] == ["recorded too"]


def test_listeners_end_in_any_order(modules: Modules) -> None:
    first, second = list[object](), list[object]()
    end_first = hear(LOG, "heard", lambda message, args: first.append(message))
    end_second = hear(LOG, "heard", lambda message, args: second.append(message))
    modules[0].log.info("both")
    end_first()
    modules[0].log.info("second")
    end_second()
    modules[0].log.info("none")
    assert (first, second) == (["both"], ["both", "second"])
    assert modules[0].log is LOG


def test_who_imports_the_twin_meanwhile_gets_the_logger_back(modules: Modules) -> None:
    heard: list[object] = []
    end = hear(LOG, "heard", lambda message, args: heard.append(message))
    late = types.ModuleType("heard.late")
    vars(late)["log"], sys.modules["heard.late"] = modules[0].log, late
    late.log.info("late")
    end()
    assert late.log is LOG and heard == ["late"]
    del sys.modules["heard.late"]


def test_what_keeps_the_twin_is_heard_no_more_after_the_end(modules: Modules) -> None:
    heard: list[object] = []
    end = hear(LOG, "heard", lambda message, args: heard.append(message), is_curious=True)
    kept = modules[0].log
    end()
    kept.info("nobody hears")
    assert heard == [] and not kept.isEnabledFor(logging.DEBUG)
