"""Events of a device, in the form of Kineto's results: which become work of a step, and when a step ends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

import depyf
from depyf.torch.profile import kineto
from tests.torch.profile import programs

CPU, CUDA = torch.autograd.DeviceType.CPU, torch.autograd.DeviceType.CUDA


@dataclass
class Recorded:
    """An event with the methods of `_KinetoEvent` of torch 2.11."""

    what: str
    starts: int
    lasts: int
    on: object = CPU
    stream: int = 0
    own: int = 0
    linked: int = 0
    is_range: bool = False

    def name(self) -> str:
        return self.what

    def start_ns(self) -> int:
        return self.starts

    def duration_ns(self) -> int:
        return self.lasts

    def device_type(self) -> object:
        return self.on

    def device_resource_id(self) -> int:
        return self.stream

    def start_thread_id(self) -> int:
        return 1

    def correlation_id(self) -> int:
        return self.own

    def linked_correlation_id(self) -> int:
        return self.linked

    def sequence_nr(self) -> int:
        return -1

    def is_user_annotation(self) -> bool:
        return self.is_range


def test_only_kernels_and_copies_are_work_of_the_device() -> None:
    events = kineto.events_of(
        [
            Recorded("## Call CompiledFxGraph abc ##", 0, 50, own=3, is_range=True),
            Recorded("triton_poi_fused_add_0", 10, 20, own=4),
            Recorded("cuLaunchKernelEx", 12, 5, own=7, linked=4),
            Recorded("Runtime Triggered Module Loading", 12, 4, own=0),
            Recorded("Activity Buffer Request", 1, 4, own=0),
            Recorded("## Call CompiledFxGraph abc ##", 40, 60, CUDA, 7, is_range=True),
            Recorded("triton_poi_fused_add_0", 40, 60, CUDA, 7, own=7, linked=4),
        ]
    )
    assert [(event.name, event.is_device) for event in events] == [
        ("## Call CompiledFxGraph abc ##", False),
        ("triton_poi_fused_add_0", False),
        ("cuLaunchKernelEx", False),
        ("triton_poi_fused_add_0", True),
    ]
    assert events[-1].launched_by == 4 and events[-1].thread == 7


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_step_waits_for_the_device_unless_a_graph_is_recorded(
    is_recorded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[bool] = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: is_recorded)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: waits.append(True))
    kineto.wait_for_device()
    assert len(waits) == (0 if is_recorded else 1)


def test_every_step_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[bool] = []
    monkeypatch.setattr("depyf.torch.profile.measurement.wait_for_device", lambda: waits.append(True))
    torch._dynamo.reset()
    compiled = torch.compile(programs.heavy, backend="eager")
    with depyf.profile(tmp_path) as profile:
        for _ in range(12):
            compiled(torch.randn(4, 4))
            profile.step()
    assert len(waits) >= 12


def test_a_program_that_does_not_use_the_device_stays_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    window = kineto.Window()
    torch.ones(3).sin()
    assert "aten::sin" in [event.name for event in window.end()]
    assert window._profile.use_device is None
