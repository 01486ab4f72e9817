"""Breakpoints by file and line hit in pdb, in each kind of file, and stepping goes on from line to line."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pexpect = pytest.importorskip("pexpect", reason="needs pexpect to talk to pdb")

from tests.torch.debuggers.places import Place, places_of  # noqa: E402 - after the check that they can run

PROGRAM = Path(__file__).with_name("stepped.py")
PROMPT = r"\(Pdb\) "
SECONDS = 180


class Pdb:
    """A program that stands at the prompt of pdb."""

    def __init__(self, backend: str, directory: Path) -> None:
        command = [str(PROGRAM), str(directory), "pdb", backend]
        self._child = pexpect.spawn(
            sys.executable, command, timeout=SECONDS, encoding="utf-8", env={**os.environ, "NO_COLOR": "1"}, echo=False
        )
        self._child.setwinsize(200, 400)
        self._child.expect("press return to continue")
        self.told = str(self._child.before)
        self._child.sendline("")
        self._child.expect(PROMPT)

    def ask(self, command: str) -> str:
        """Return what pdb answers to a command, up to its next prompt."""
        self._child.sendline(command)
        self._child.expect(PROMPT)
        return str(self._child.before).replace("\r\n", "\n")

    def finish(self) -> str:
        """Let the program run to its end; return what it printed."""
        self._child.sendline("continue")
        self._child.expect(pexpect.EOF)
        return str(self._child.before).replace("\r\n", "\n")


def position(said: str) -> tuple[str, int]:
    stops = re.findall(r"> (\S+?)\((\d+)\)", said)
    assert stops, said
    return stops[-1][0], int(stops[-1][1])


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_breakpoints_hit_and_steps_land_on_lines(backend: str, tmp_path: Path) -> None:
    places = places_of(backend)
    pdb = Pdb(backend, tmp_path)
    expected = {place.find(tmp_path / backend): place for place in places}
    for path, line in expected:
        assert str(path) in pdb.told, "the places are printed before the pause"
        assert re.search(r"Breakpoint \d+ at", pdb.ask(f"break {path}:{line}"))
    met: set[str] = set()
    while len(met) < len(places):
        where = position(pdb.ask("continue"))
        place = expected[(Path(where[0]), where[1])]
        met.add(place.kind)
        check_stop(pdb, place, where)
    for number in range(1, len(places) + 1):
        pdb.ask(f"clear {number}")
    said = pdb.finish()
    assert "results [0.75, 0.75, 0.75, 0.75] [0.0625, 0.0625, 0.0625, 0.0625]" in said
    assert "entries 1 1 frames 0" in said, "nothing of the debugger's was compiled"


def check_stop(pdb: Pdb, place: Place, where: tuple[str, int]) -> None:
    """Look at a variable, go to the next line, and to the end of the function."""
    assert pdb.ask(f"p {place.seen}").strip() == place.value
    said = pdb.ask("next")
    assert position(said)[0] == where[0]
    assert position(said) != where or "--Return--" in said
    if "graph" in place.kind:
        said = pdb.ask("return")
        assert position(said)[0] == where[0]
        assert "--Return--" in said
