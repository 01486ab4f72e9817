"""Breakpoints by file and line hit in an editor's debugger, in each kind of file, and its steps land on lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pytest.importorskip("debugpy", reason="needs debugpy, the debugger of VS Code")

from benchmarks.debugged import (  # noqa: E402 - after the check that they can run
    Debugged,
    free_port,
    place_of,
    under_debugpy,
)
from tests.torch.debuggers.places import Place, places_of  # noqa: E402

PROGRAM = Path(__file__).with_name("stepped.py")
BACKENDS = ("eager", "aot_eager", "inductor")


@pytest.mark.slow
@pytest.mark.parametrize(("backends", "from_start"), [(BACKENDS, False), (("eager",), True)])
def test_breakpoints_hit_and_steps_land_on_lines(backends: tuple[str, ...], from_start: bool, tmp_path: Path) -> None:
    if from_start:
        port = free_port()
        program = Debugged(*under_debugpy(port), str(PROGRAM), str(tmp_path), "none", *backends, port=port)
    else:
        program = Debugged(str(PROGRAM), str(tmp_path), "attach", *backends)
    try:
        for backend in backends:
            said = step_through(program, backend, tmp_path / backend)
            assert "results [0.75, 0.75, 0.75, 0.75] [0.0625, 0.0625, 0.0625, 0.0625]" in said
            assert "entries 1 1 frames 0" in said
            index = json.loads((tmp_path / backend / "index.json").read_text(encoding="utf-8"))
            assert [function["name"] for function in index["functions"]] == ["stepped"], (
                "nothing of the debugger's is compiled"
            )
    finally:
        program.end()


def step_through(program: Debugged, backend: str, directory: Path) -> str:
    """Stop at each place of a backend; return what the program prints after that."""
    program.until_pause()
    by_place = {place.find(directory): place for place in places_of(backend)}
    program.set_breakpoints(list(by_place))
    program.go_on()
    while by_place:
        thread, frame = program.stopped()
        check_stop(program, by_place.pop(place_of(frame)), thread, frame)
        program.client.ask("continue", threadId=thread)
    return program.finish()


def check_stop(program: Debugged, place: Place, thread: int, frame: dict[str, Any]) -> None:
    """Look at a variable and step to the next line of the same file."""
    evaluated = program.client.ask("evaluate", expression=place.seen, frameId=frame["id"], context="watch")
    assert evaluated["result"] == place.value
    scopes = program.client.ask("scopes", frameId=frame["id"])["scopes"]
    answer = program.client.ask("variables", variablesReference=scopes[0]["variablesReference"])
    names = {variable["name"] for variable in answer["variables"]}
    assert place.seen.removeprefix("len(").split(".")[0].rstrip(")") in names
    if place.kind in ("captured graph", "forward graph", "backward graph"):
        after = place_of(program.step("next", thread))
        assert after[0] == place_of(frame)[0]
        assert after[1] > frame["line"]
