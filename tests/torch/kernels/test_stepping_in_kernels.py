"""pdb stops in a kernel's own lines, at the lines that are there for one of the user's, with the values of blocks."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the torch part of depyf needs torch")
pexpect = pytest.importorskip("pexpect", reason="needs pexpect to talk to pdb")

PROGRAM = Path(__file__).with_name("written.py")
PROMPT = r"\(Pdb\) "
SECONDS = 180

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None, reason="triton is not installed (`make test-triton` does that)"
    ),
]


def test_pdb_stops_at_the_lines_of_a_users_line(tmp_path: Path) -> None:
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "INDUCTOR_PROVENANCE": "1"}
    subprocess.run([sys.executable, str(PROGRAM), str(tmp_path / "dump"), "triton"], check=True, env=environment)
    listed = subprocess.run(
        [sys.executable, "-m", "depyf", "kernel", str(tmp_path / "dump")], check=True, capture_output=True, text=True
    )
    name = next(line.split()[0] for line in listed.stdout.splitlines() if line.endswith("forward"))
    place = f"written.py:{line_of('torch.softmax')}"
    path = tmp_path / "alone.py"
    options = ["-o", str(path), "--pdb", "--at", place]
    command = ["-m", "depyf", "kernel", str(tmp_path / "dump"), name, *options]
    child = pexpect.spawn(sys.executable, command, timeout=SECONDS, encoding="utf-8", echo=False)
    child.setwinsize(200, 400)
    child.expect(PROMPT)
    stopped = re.findall(r"> (\S+?)\((\d+)\)", str(child.before))
    assert stopped, child.before
    row = path.read_text(encoding="utf-8").splitlines()[int(stopped[-1][1]) - 1]
    assert stopped[-1][0] == str(path)
    assert place in row
    child.sendline("p tmp0.handle.data.shape[-1], bool(abs(tmp0.handle.data).max() > 0)")
    child.expect(PROMPT)
    assert "(64, True)" in str(child.before), "a block of 64 for 40 elements"
    child.sendline("import os; os._exit(0)")
    child.expect(pexpect.EOF)


def test_debug_stops_in_the_kernels_of_a_program(tmp_path: Path) -> None:
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "NO_COLOR": "1"}
    command = [str(PROGRAM), str(tmp_path / "dump"), "triton", "pdb"]
    child = pexpect.spawn(sys.executable, command, timeout=SECONDS, encoding="utf-8", env=environment, echo=False)
    child.setwinsize(200, 400)
    child.expect("press return to continue")
    places = re.findall(r"(triton_\w+), interpreted: break at (\S+):(\d+)", str(child.before))
    assert len(places) == 2, "one forward, one backward"
    child.sendline("")
    child.expect(PROMPT)
    name, file, _ = places[0]
    row = next(number for number, text in enumerate(lines_of(Path(file)), start=1) if "tl.store(" in text)
    child.sendline(f"break {file}:{row}")
    child.expect(PROMPT)
    for program in range(2):
        child.sendline("continue")
        child.expect(PROMPT)
        assert re.search(rf"> {re.escape(file)}\({row}\){name}\(\)", str(child.before)), child.before
        child.sendline("p tl.program_id(0).handle.data.tolist(), bool((tmp0.handle.data == 0).all())")
        child.expect(PROMPT)
        assert f"([{program}], False)" in str(child.before)
    child.sendline("import os; os._exit(0)")
    child.expect(pexpect.EOF)


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(lines_of(PROGRAM), start=1) if text in line)
