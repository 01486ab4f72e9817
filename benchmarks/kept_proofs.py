"""Is a kept proof wrong, stale or an error? Damaged entries, two writers, a full disk, read-only folders, other depyfs.

    python -m benchmarks.kept_proofs [--damages 10000]

Each damage is written to a file of a folder of entries, which is then read as in a run. A folder below `/proc` takes
no file. For a full disk, the system refuses the bytes of a file after the first hundred.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from benchmarks.bar import none_of, report
from depyf.torch.capture import kept_proofs
from depyf.torch.capture.kept_proofs import KeptProofs, digest
from depyf.torch.capture.proven import Proven, Shown
from depyf.verify.level import Level

ROUNDS = 1000
TEXTS = 5
DISK_BYTES = 100
OTHERS = 200


def shown(number: int) -> Shown:
    """Return a proven result; those of different numbers differ."""
    text = f"def f(): return __compiled_fn_1({number})\n" * 40
    code = compile(text, "f.py", "exec").co_consts[0]
    proven = Proven(Level.EXACT, "", "f", {}, {}, False, code)
    return Shown(proven, text, text, {"__compiled_fn_1_abc": "__compiled_fn_1"}, 3, ("__compiled_fn_1_abc",))


def damaged(content: bytes, choice: random.Random) -> bytes:
    """Return a damaged copy: flipped bits, a lost end, replaced bytes, zeros, another content, or a doubled part."""
    changed = bytearray(content)
    begin = choice.randrange(len(changed))
    match choice.randrange(6):
        case 0:
            for _ in range(choice.randrange(1, 4)):
                changed[choice.randrange(len(changed))] ^= 1 << choice.randrange(8)
        case 1:
            del changed[begin:]
        case 2:
            changed[begin : begin + choice.randrange(64)] = choice.randbytes(choice.randrange(64))
        case 3:
            changed[begin:] = bytes(len(changed) - begin)
        case 4:
            changed = bytearray(choice.randbytes(choice.randrange(2 * len(content))))
        case _:
            changed += changed[begin:] or b"x"
    return bytes(changed)


def damages(count: int) -> Iterator[tuple[str, str]]:
    """Yield what was wrong after each damage: `wrong` or `error`, and the seed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        KeptProofs(folder).put(("code", 0), shown(0))
        file = folder / digest(("code", 0))
        content, right = file.read_bytes(), shown(0)
        for seed in range(count):
            changed = damaged(content, random.Random(seed))
            file.write_bytes(changed)
            try:
                read = KeptProofs(folder).get(("code", 0), 1)
            except Exception as error:  # noqa: BLE001 - any exception would reach the user's program
                yield "error", f"seed {seed}: {type(error).__name__}: {error}"
                continue
            if read is not None and (read != right or changed != content):
                yield "wrong", f"seed {seed}: a damaged entry was used"


def _write(folder: str, seed: int) -> list[tuple[str, str]]:
    """Write and read the entries that another process writes and reads, too; return what was wrong."""
    kept, choice, problems = KeptProofs(Path(folder)), random.Random(seed), []
    for number in range(ROUNDS):
        which = choice.randrange(TEXTS)
        try:
            kept.put(("code", which), shown(which))
            if kept.get(("code", which), 1) != shown(which):
                problems.append(("wrong", f"writer {seed}, round {number}"))
        except Exception as error:  # noqa: BLE001 - any exception would reach the user's program
            problems.append(("error", f"writer {seed}: {type(error).__name__}: {error}"))
    return problems


def two_writers() -> list[tuple[str, str]]:
    """Return what was wrong when two processes wrote the same entries."""
    with tempfile.TemporaryDirectory() as scratch, multiprocessing.get_context("spawn").Pool(2) as pool:
        return sum(pool.starmap(_write, [(scratch, 1), (scratch, 2)]), [])


def _on_full_disk(folder: str) -> list[tuple[str, str]]:
    """Put entries where the system takes no more than some bytes of a file; then read them without that limit."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK_BYTES, hard))
    problems = _put_and_read(Path(folder), "full disk")
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    for which in range(TEXTS):
        if KeptProofs(Path(folder)).get(("code", which), 1) is not None:
            problems.append(("wrong", "an entry that was cut off was used"))
    return problems


def _put_and_read(folder: Path, name: str) -> list[tuple[str, str]]:
    problems = []
    for which in range(TEXTS):
        try:
            kept = KeptProofs(folder)
            kept.put(("code", which), shown(which))
            if kept.get(("code", which), 1) not in (None, shown(which)):
                problems.append(("wrong", f"{name}, entry {which}"))
        except Exception as error:  # noqa: BLE001 - any exception would reach the user's program
            problems.append(("error", f"{name}: {type(error).__name__}: {error}"))
    return problems


def bad_folders() -> list[tuple[str, str]]:
    """Return what was wrong on a full disk and in folders that take no file."""
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        if sys.platform != "win32":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                problems += pool.apply(_on_full_disk, (scratch,))
        file = Path(scratch, "file")
        file.write_text("no folder", encoding="utf-8")
        problems += _put_and_read(file, "a file in place of the folder")
    return problems + _put_and_read(Path("/proc/depyf"), "read-only folder")


def other_makers() -> list[tuple[str, str]]:
    """Return the entries of another depyf, Python or torch that were used."""
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        kept, maker = KeptProofs(Path(scratch)), kept_proofs._maker()
        for number in range(OTHERS):
            place = number % len(maker)
            other = (*maker[:place], f"another {number}", *maker[place + 1 :])
            with mock.patch.object(kept_proofs, "_maker", lambda other=other: other):
                kept.put(("code", number), shown(number))
            if kept.get(("code", number), 1) is not None:
                problems.append(("wrong", f"an entry of another depyf: {other[place]}"))
    return problems


def main() -> None:
    """Count wrong or stale results, and errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damages", type=int, default=10_000)
    options = parser.parse_args()
    problems = [*damages(options.damages), *two_writers(), *bad_folders(), *other_makers()]
    tries = str(options.damages + 2 * ROUNDS + 3 * TEXTS + OTHERS)
    report(
        [
            none_of(
                "kept proofs that were wrong or stale",
                [problem for kind, problem in problems if kind == "wrong"],
                tries,
            ),
            none_of(
                "errors of kept proofs in the program",
                [problem for kind, problem in problems if kind == "error"],
                tries,
            ),
        ]
    )


if __name__ == "__main__":
    main()
