"""A training step as an NVIDIA H200 ran it under torch 2.11: its events, recorded on 2026-11-27."""

from __future__ import annotations

import json
from pathlib import Path

from depyf.links.profile.attribution import costs, pieces_of
from depyf.links.profile.calls import Call
from depyf.links.profile.events import Event, Period
from depyf.links.profile.model import Profile
from depyf.links.profile.programs import Programs, Text
from depyf.links.profile.tables import kernel_rows, kinds
from depyf.model.run import Compile, CompileId, Function

FORWARD = (
    "mm",
    "triton_per_fused__softmax_exp_prepare_softmax_online_sub_sum_0",
    "triton_per_fused__softmax_exp_sub_sum_1",
)
BACKWARD = ("triton_per_fused__softmax__softmax_backward_data_expand_0", "mm")
ROWS = json.loads(Path(__file__).with_name("h200_step.json").read_text(encoding="utf-8"))
EVENTS = tuple(Event(*row) for row in ROWS)


def _text(file: str, names: tuple[str, ...], *, is_backward: bool) -> Text:
    calls = tuple(Call(name, at, frozenset((("f.py", at),))) for at, name in enumerate(names, start=1))
    return Text("0/0", file, is_backward, True, calls)


def profiled() -> Profile:
    programs = Programs()
    function = Function("0", "f", "f.py", 1, "", "0")
    programs.compiles["0/0"] = function, Compile(CompileId(0, 0), "f", "f.py", 1)
    programs.texts.append(_text("kernel_0.py", FORWARD, is_backward=False))
    programs.texts.append(_text("kernel_1.py", BACKWARD, is_backward=True))
    step = Period(0, max(event.end for event in EVENTS), EVENTS)
    return Profile(each_step=(step.seconds,), costs=costs([pieces_of(step, programs, [])]))


def test_a_kernels_seconds_are_those_of_the_device() -> None:
    seconds_of = {row.name: row.seconds for row in kernel_rows(profiled())}
    of_device: dict[str, float] = {}
    for event in EVENTS:
        if event.is_device and "at::native" not in event.name:
            of_device[event.name] = of_device.get(event.name, 0.0) + (event.end - event.start) / 1e9
    assert seconds_of.keys() == of_device.keys()
    assert all(abs(seconds_of[name] - seconds) < 1e-9 for name, seconds in of_device.items())


def test_the_hosts_launches_are_charged_to_the_lines_of_their_kernels() -> None:
    launches = {cost.charge.lines: cost.seconds for cost in profiled().costs if cost.charge.kind == "launch"}
    assert {line for lines in launches for _, line in lines} == {1, 2, 3}
    # The device computes for 20 microseconds in this step, and the host launches for 400.
    assert sum(launches.values()) > 10 * kinds(profiled())["kernel"]


def test_all_of_the_step_is_charged_once() -> None:
    assert abs(sum(kinds(profiled()).values()) - profiled().seconds) < 1e-9
