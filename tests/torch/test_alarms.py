"""`depyf.watch`: an event for each recompile, alarms after the warm-up, and counts for two libraries of metrics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch", reason="a watch needs torch")

import torch

import depyf
from depyf.torch.adapters import lacking
from depyf.torch.alarms.event import Kind

pytestmark = pytest.mark.skipif(lacking.structured_trace() is not None, reason="this torch does not report compiles")


@pytest.fixture
def step() -> Iterator[Callable[..., Any]]:
    torch._dynamo.reset()
    yield torch.compile(lambda x, n: x * n, backend="eager", dynamic=False)
    torch._dynamo.reset()


def test_a_recompile_is_an_event_and_after_the_warm_up_an_alarm(step: Callable[..., Any]) -> None:
    events: list[depyf.CompileEvent] = []
    with depyf.watch(events.append) as watch:
        step(torch.ones(3), 2)
        step(torch.ones(4), 2)
        watch.end_warm_up()
        step(torch.ones(4), 2)
        step(torch.ones(5), 2)
    assert [(event.kind, event.is_alarm) for event in events] == [(Kind.RECOMPILE, False), (Kind.RECOMPILE, True)]
    assert (watch.counts.compiles, watch.counts.recompiles, watch.counts.alarms) == (3, 2, 1)
    assert events[1].place.startswith("test_alarms.py:") and events[1].caller.startswith("test_alarms.py:")
    assert any("expected 4, actual 5" in cause for cause in events[1].causes)
    assert events[1].seconds > 0


def test_nothing_is_reported_before_the_start_or_after_the_stop(step: Callable[..., Any]) -> None:
    watch = depyf.watch(warm_up=0)
    step(torch.ones(3), 2)
    with watch:
        step(torch.ones(3), 2)
    step(torch.ones(4), 2)
    assert watch.counts.compiles == 0


def test_a_first_compile_after_the_warm_up_is_an_alarm(step: Callable[..., Any]) -> None:
    with depyf.watch(warm_up=0) as watch:
        step(torch.ones(3), 2)
    assert [(event.kind, event.is_alarm) for event in watch.events] == [(Kind.FIRST, True)]


def test_a_function_ends_the_warm_up(step: Callable[..., Any]) -> None:
    calls: list[int] = []
    with depyf.watch(warm_up=lambda: len(calls) > 1) as watch:
        for size in (3, 4, 5, 6):
            calls.append(size)
            step(torch.ones(size), 2)
    assert [event.is_alarm for event in watch.events] == [False, True, True, True]


def test_the_limit_of_recompiles_is_an_event(step: Callable[..., Any]) -> None:
    with torch._dynamo.config.patch(recompile_limit=2), depyf.watch(warm_up=0) as watch:
        for size in (3, 4, 5, 6):
            step(torch.ones(size), 2)
    assert watch.counts.limits == 1
    assert watch.counts.compiles == 2
    assert "recompile limit reached by" in str(watch.events[-1])


def test_an_error_of_the_callback_does_not_reach_the_program(
    step: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    def fails(event: depyf.CompileEvent) -> None:
        raise ZeroDivisionError

    with depyf.watch(fails, warm_up=0):
        assert torch.equal(step(torch.ones(3), 2), torch.full((3,), 2.0))
    assert "the program continues" in caplog.text


def test_alarms_are_warnings_of_the_logger(step: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "depyf.watch"), depyf.watch() as watch:
        step(torch.ones(3), 2)
        step(torch.ones(4), 2)
        watch.end_warm_up()
        step(torch.ones(5), 2)
    assert [record.levelno for record in caplog.records] == [logging.INFO, logging.WARNING]


@pytest.mark.parametrize("warm_up", [True, "60", object()])
def test_a_wrong_warm_up_is_refused(warm_up: Any) -> None:
    with pytest.raises(TypeError, match="warm_up"):
        depyf.watch(warm_up=warm_up)


def test_prometheus_shows_compiles_alarms_and_seconds(step: Callable[..., Any]) -> None:
    client = pytest.importorskip("prometheus_client", reason="its own library counts")
    registry = client.CollectorRegistry()
    with depyf.watch(warm_up=0, prometheus=registry), depyf.watch(warm_up=0, prometheus=registry):
        step(torch.ones(3), 2)
    text = client.generate_latest(registry).decode()
    assert 'depyf_alarms_total{function="<lambda>",kind="first compile"} 2.0' in text
    assert "depyf_compile_seconds_total" in text


def test_opentelemetry_shows_compiles_and_alarms(step: Callable[..., Any]) -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.metrics", reason="its own library counts")
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    reader = export.InMemoryMetricReader()
    meter = sdk.MeterProvider([reader]).get_meter("test")
    with depyf.watch(warm_up=0, opentelemetry=meter):
        step(torch.ones(3), 2)
    (resource,) = reader.get_metrics_data().resource_metrics
    values = {metric.name: metric.data.data_points[0].value for metric in resource.scope_metrics[0].metrics}
    assert values["depyf.compiles"] == values["depyf.alarms"] == 1
    assert values["depyf.compile_seconds"] > 0
