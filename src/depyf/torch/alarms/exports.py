"""Count events in the metrics of Prometheus and OpenTelemetry. Their own libraries write and send them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from depyf.torch.alarms.event import CompileEvent, Kind

Export = Callable[[CompileEvent], None]
COMPILES, ALARMS, SECONDS = "depyf_compiles", "depyf_alarms", "depyf_compile_seconds"
_ABOUT = {
    COMPILES: "Compiles of torch.compile, by kind and function.",
    ALARMS: "Compiles after the warm-up, and functions that reached the recompile limit after it.",
    SECONDS: "Seconds that compiles took.",
}
_made: weakref.WeakKeyDictionary[Any, Export] = weakref.WeakKeyDictionary()
"""The metrics of each registry, which accepts a name once."""
_lock = threading.Lock()


def prometheus(registry: Any = None) -> Export:
    """Return a function that counts events in a registry of `prometheus_client`; None: its default registry.

    Raises:
        ImportError: the library is missing.
    """
    try:
        import prometheus_client
    except ImportError as error:
        raise ImportError("prometheus needs its library: pip install 'depyf[prometheus]'") from error
    registry = prometheus_client.REGISTRY if registry is None else registry
    with _lock:
        if registry not in _made:
            labels = ("kind", "function")
            counters = [prometheus_client.Counter(name, _ABOUT[name], labels, registry=registry) for name in _ABOUT]
            _made[registry] = _counting(*map(_adding, counters))
        return _made[registry]


def opentelemetry(meter: Any = None) -> Export:
    """Return a function that counts events by a meter of OpenTelemetry; None: the meter `depyf` of its provider.

    Raises:
        ImportError: the library is missing.
    """
    try:
        from opentelemetry import metrics
    except ImportError as error:
        raise ImportError("opentelemetry needs its library: pip install 'depyf[opentelemetry]'") from error
    meter = metrics.get_meter("depyf") if meter is None else meter
    names = {name: name.replace("_", ".", 1) for name in _ABOUT}
    counters = [meter.create_counter(names[name], description=_ABOUT[name]) for name in _ABOUT]
    return _counting(*(counter.add for counter in counters))


Add = Callable[[float, dict[str, str]], object]


def _adding(counter: Any) -> Add:
    return lambda amount, labels: counter.labels(**labels).inc(amount)


def _counting(compiles: Add, alarms: Add, seconds: Add) -> Export:
    def export(event: CompileEvent) -> None:
        labels = {"kind": event.kind.value, "function": event.function}
        if event.kind is not Kind.LIMIT:
            compiles(1, labels)
            seconds(event.seconds, labels)
        if event.is_alarm:
            alarms(1, labels)

    return export
