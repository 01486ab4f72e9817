"""Proven results on disk: the second run proves nothing again, and nothing damaged or stale is ever used."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from depyf.model.variables import PROOFS_VARIABLE
from depyf.torch.adapters import lacking
from depyf.torch.adapters.maker import stamps
from depyf.torch.capture import kept_proofs
from depyf.torch.capture.kept_proofs import MOST_ENTRIES, KeptProofs, digest, entry, read_entry
from depyf.torch.capture.proven import Proven, Shown
from depyf.verify.level import Level

PROGRAM = """\
import json, os, re, sys
import torch
import depyf

def broken(x, n):
    y = x + n
    torch._dynamo.graph_break()
    return y.sin() if n < 3 else y.cos()

with depyf.prepare_debug(sys.argv[1], log_bytecode=len(sys.argv) > 2) as session:
    compiled = torch.compile(broken, backend="eager", dynamic=False)
    results = [compiled(torch.ones(2), n).tolist() for n in range(4)]
made = [each.transformed for _, each in session.compiles()]
told = {
    "sources": [re.sub(r"_[0-9a-f]{8}_[0-9a-f_]*", "", each.source) for each in made],
    "levels": [each.level.name for each in made],
    "reasons": [each.reason for each in made],
    "results": results,
    "proves": "depyf.decompiler.function" in sys.modules,
    "problems": [each.message for each in session.problems],
}
print(json.dumps(told))
"""
traced = pytest.mark.skipif(lacking.structured_trace() is not None, reason="the names of graphs are not told")


def run(directory: Path, proofs: object, *options: str) -> dict[str, object]:
    environment = os.environ | {PROOFS_VARIABLE: str(proofs)}
    environment.pop("DEPYF_CHECK", None)
    command = [sys.executable, "-c", PROGRAM, str(directory), *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@traced
def test_the_second_run_proves_nothing_and_tells_the_same(tmp_path: Path) -> None:
    first = run(tmp_path / "one", tmp_path / "proofs")
    kept = entries(tmp_path / "proofs")
    again = run(tmp_path / "two", tmp_path / "proofs")
    assert (first.pop("proves"), again.pop("proves")) == (True, False)
    assert first == again
    assert first["problems"] == []
    assert kept and entries(tmp_path / "proofs") == kept
    for name in sorted(path.name for path in (tmp_path / "one").glob("__transformed*.py")):
        assert (tmp_path / "one" / name).read_text("utf-8") == (tmp_path / "two" / name).read_text("utf-8")


@traced
@pytest.mark.slow
def test_listings_are_compiled_from_the_kept_source(tmp_path: Path) -> None:
    first = run(tmp_path / "one", tmp_path / "proofs", "bytecode")
    again = run(tmp_path / "two", tmp_path / "proofs", "bytecode")
    assert again["reasons"] == first["reasons"] == [""] * len(first["levels"])  # type: ignore[arg-type]
    for path in sorted((tmp_path / "one").glob("*compiled_back_bytecode")):
        assert path.read_text("utf-8") == (tmp_path / "two" / path.name).read_text("utf-8")


@traced
@pytest.mark.slow
def test_it_can_be_switched_off_and_needs_no_folder(tmp_path: Path) -> None:
    off = run(tmp_path / "off", 0)
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    without = run(tmp_path / "without", tmp_path / "file")
    assert off == without
    assert (off["proves"], off["problems"]) == (True, [])


@traced
@pytest.mark.slow
def test_a_run_with_damaged_entries_proves_again(tmp_path: Path) -> None:
    first = run(tmp_path / "one", tmp_path / "proofs")
    for path in entries(tmp_path / "proofs"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    again = run(tmp_path / "two", tmp_path / "proofs")
    assert again == first
    assert run(tmp_path / "three", tmp_path / "proofs") == {**first, "proves": False}


def made(text: str = "def f(): return __compiled_fn_1()\n") -> Shown:
    code = compile(text, "f.py", "exec").co_consts[0]
    proven = Proven(Level.EXACT, "", "f", {}, {}, False, code)
    return Shown(proven, text, text, {"__compiled_fn_1_abc": "__compiled_fn_1"}, 3, ("__compiled_fn_1_abc",))


KEY = ("code", frozenset({("length", 2), ("other", 1)}), frozenset({"a", "b"}))


def test_an_entry_tells_what_was_put(tmp_path: Path) -> None:
    kept = KeptProofs(tmp_path / "deep" / "folder")
    assert kept.get(KEY, 1) is None
    kept.put(KEY, made())
    assert kept.get(KEY, 1) == made()
    assert kept.get(KEY, 2) is None
    assert kept.get((*KEY, "assumed"), 1) is None


def test_ten_thousand_damages_are_all_noticed() -> None:
    name, choice = digest(KEY), random.Random(0)
    content = entry(name, made())
    assert content is not None and read_entry(name, content, 1) == made()
    for _ in range(10_000):
        damaged = bytearray(content)
        match choice.randrange(4):
            case 0:
                for _ in range(choice.randrange(1, 4)):
                    damaged[choice.randrange(len(damaged))] ^= 1 << choice.randrange(8)
            case 1:
                del damaged[choice.randrange(len(damaged)) :]
            case 2:
                begin = choice.randrange(len(damaged))
                damaged[begin : begin + choice.randrange(64)] = choice.randbytes(choice.randrange(64))
            case _:
                damaged = bytearray(choice.randbytes(choice.randrange(len(content) * 2)))
        assert damaged == content or read_entry(name, bytes(damaged), 1) is None
    other = digest(("another key",))
    assert read_entry(other, content, 1) is None


def test_another_depyf_or_python_has_other_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptProofs(tmp_path)
    kept.put(KEY, made())
    for change in (("a version", ()), ("proofs-1", "another file")):
        with monkeypatch.context() as patch:
            patch.setattr(kept_proofs, "_maker", lambda change=change: change)
            assert kept.get(KEY, 1) is None
    assert kept.get(KEY, 1) == made()


def test_a_changed_file_of_depyf_makes_other_entries(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "a.py"
    file.write_text("a = 1\n")
    before = sorted(stamps(str(tmp_path)))
    file.write_text("a = 12\n")
    assert before and sorted(stamps(str(tmp_path))) != before


def test_a_full_disk_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptProofs(tmp_path)

    def full(path: Path, content: bytes) -> int:
        with open(path, "wb") as file:
            file.write(content[:10])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "write_bytes", full)
    kept.put(KEY, made())
    assert entries(tmp_path) == []
    monkeypatch.undo()
    assert KeptProofs(tmp_path).get(KEY, 1) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_no_error(tmp_path: Path) -> None:
    KeptProofs(tmp_path).put(KEY, made())
    tmp_path.chmod(0o500)
    try:
        kept = KeptProofs(tmp_path)
        kept.put(("another",), made())
        assert len(entries(tmp_path)) == 1
    finally:
        tmp_path.chmod(0o700)


def test_entries_are_bounded(tmp_path: Path) -> None:
    for number in range(MOST_ENTRIES):
        (tmp_path / str(number)).touch()
        os.utime(tmp_path / str(number), (number, number))
    KeptProofs(tmp_path).put(KEY, made())
    left = {path.name for path in entries(tmp_path)}
    assert len(left) == MOST_ENTRIES // 2 + 1
    assert {digest(KEY), str(MOST_ENTRIES - 1)} <= left
    assert "0" not in left


def _write(folder: str, seed: int) -> int:
    """Write and read the same entries as another process; return how many were read wrongly."""
    kept, choice, wrong = KeptProofs(Path(folder)), random.Random(seed), 0
    for _ in range(300):
        number = choice.randrange(5)
        text = f"def f(): return __compiled_fn_1({number})\n" * 50
        kept.put((number,), made(text))
        result = kept.get((number,), 1)
        wrong += result != made(text)
    return wrong


def test_two_writers_never_read_a_wrong_entry(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(_write, [(str(tmp_path), 1), (str(tmp_path), 2)]) == [0, 0]
    assert len(entries(tmp_path)) == 5
