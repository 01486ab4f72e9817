"""What `depyf decompile` makes of 400 files of odd origin: the right text, or one clear line.

    python -m benchmarks.odd_files [--only WORD]

The files are made anew: headers of 0, 4, 8, 12 bytes, zeros and junk, marshal dumps, damaged tails, zipapps, wheels,
eggs, executables of PyInstaller and PYZ archives, `__pycache__` trees of several Pythons, packages of `.pyc` alone,
files of PyPy, and files that are no code. A text is right if it equals that of the clean `.pyc`, which is proven where
an interpreter of its version is at hand.
"""

from __future__ import annotations

import argparse
import functools
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner, Result

from benchmarks.bar import Bar, none_of, report
from benchmarks.interpreters import VERSIONS, find
from benchmarks.odd_files.make import Odd, Wanted, of_no_python, of_one_version, of_several_versions
from benchmarks.odd_files.programs import Compiled, compiled_by
from depyf.cli.commands import depyf
from depyf.decompiler.api import decompile_pyc


def odd_files() -> Iterator[Odd]:
    """Yield the files for the Pythons of this machine."""
    pythons = {version: python for version in VERSIONS if (python := find(version)) is not None}
    versions = {version: compiled_by(python, version) for version, python in pythons.items()}
    for codes in versions.values():
        yield from of_one_version(codes)
    yield from of_several_versions(versions)
    yield from of_no_python(next(iter(versions[max(versions)].values())))


@functools.cache
def text_of(compiled: Compiled) -> str:
    """Return the text of a clean `.pyc`."""
    return decompile_pyc(compiled.pyc)


def problem(odd: Odd, folder: Path) -> str:
    """Return what is wrong with the result for a file, or an empty text."""
    root = folder / odd.name
    for path, content in odd.files.items():
        place = root / path if path else root
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    is_tree = odd.wanted is Wanted.TREE
    out = folder / "out"
    arguments = ["decompile", str(root), "--no-prove", "-o", str(out if is_tree else folder / "out.py"), "-j", "1"]
    done = CliRunner().invoke(depyf, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return f"{type(done.exception).__name__}: {done.exception}"
    if done.stderr.count(str(root)) > 1 or "Traceback" in done.output:
        return f"the path is said several times: {done.stderr.strip()}"
    return _wrong_line(done, folder) if odd.wanted in (Wanted.LINE, Wanted.PIECES) else _wrong_texts(odd, done, folder)


def _wrong_line(done: Result, folder: Path) -> str:
    """Return what is wrong with the message for a file that cannot be decompiled as a whole."""
    lines = done.stderr.strip().splitlines()
    if len(lines) != 1 or done.exit_code not in (1, 2):
        return f"exit code {done.exit_code}, {len(lines)} lines: {' / '.join(lines)}"
    if "Error" in lines[0].partition("Error: ")[2]:
        return f"an internal error: {lines[0]}"
    text = folder / "out.py"
    return "" if not text.is_file() or _compiles(text) else "the text of the pieces does not compile"


def _compiles(path: Path) -> bool:
    """Return whether this Python compiles a text; one for another version may not."""
    try:
        compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _wrong_texts(odd: Odd, done: Result, folder: Path) -> str:
    """Return how the texts differ from those of the clean files."""
    if done.exit_code != 0:
        return f"exit code {done.exit_code}: {done.stderr.strip()}"
    for path, compiled in odd.programs.items():
        place = folder / "out" / path if path else folder / "out.py"
        if not place.is_file():
            return f"there is no {path or 'text'}"
        if place.read_text(encoding="utf-8") != text_of(compiled):
            return f"{path or 'the text'} differs from that of the clean file"
    return ""


def measure(only: str) -> list[Bar]:
    """Decompile every file, and print the kinds."""
    problems: list[str] = []
    kinds: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for odd in odd_files():
        if only not in f"{odd.name} {odd.kind}":
            continue
        with tempfile.TemporaryDirectory() as folder:
            what = problem(odd, Path(folder))
        kinds[odd.kind] += 1
        if what:
            wrong[odd.kind] += 1
            problems.append(f"{odd.name}, {odd.kind}: {what}")
    for kind, count in kinds.items():
        print(f"{kind:36} {count:4} files, {wrong[kind]} wrong")
    return [none_of("odd files with neither the right text nor one clear line", problems, f"{kinds.total()} files")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="files whose name or kind contains WORD")
    report(measure(parser.parse_args().only))
