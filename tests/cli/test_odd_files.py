"""Files that are no clean `.pyc`: headers that lack, zip archives, modules of another Python on the path."""

from __future__ import annotations

import importlib.util
import marshal
import tempfile
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from depyf.bytecode.headerless import load_assuming
from depyf.bytecode.versions.running import RUNNING
from depyf.cli.commands import depyf
from depyf.cli.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_USAGE
from depyf.errors import DecompilationError
from tests import interpreters

SOURCE = "def f(x):\n    return x + 1\n"
MARSHALLED = marshal.dumps(compile(SOURCE, "m.py", "exec"))
MAGIC = importlib.util.MAGIC_NUMBER
HEADERS = {
    "none": b"",
    "the magic number alone": MAGIC,
    "of Python 2": MAGIC + bytes(4),
    "of Python 3.6": MAGIC + bytes(8),
    "zeros": bytes(16),
    "junk": b"junk" * 4,
    "an unknown magic number": b"\xff\x7f\r\n" + bytes(12),
}


COMPILE = "import sys, py_compile as p; p.compile(sys.argv[1], sys.argv[2], doraise=True)"


def pyc_of(source: str, version: tuple[int, int]) -> bytes:
    """Return the `.pyc` of a source that another interpreter compiles; skips the test without it."""
    python = interpreters.need(version)
    with tempfile.TemporaryDirectory() as folder:
        path, target = Path(folder) / "source.py", Path(folder) / "source.pyc"
        path.write_text(source, encoding="utf-8")
        interpreters.run(python, COMPILE, str(path), str(target))
        return target.read_bytes()


def run(*arguments: str | Path) -> Result:
    """Run `depyf decompile`."""
    return CliRunner().invoke(depyf, ["decompile", *map(str, arguments)])


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_a_header_that_lacks_is_assumed(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "m.pyc"
    path.write_bytes(header + MARSHALLED)
    done = run(path)
    assert done.exit_code == EXIT_DONE
    assert done.stdout == SOURCE
    assert f"EXACT; assumed: a header of {len(header)} bytes" in done.stderr
    assert done.stderr.count("m.pyc") == 1


def test_nothing_is_assumed_of_a_whole_header(tmp_path: Path) -> None:
    path = tmp_path / "m.pyc"
    path.write_bytes(MAGIC + bytes(12) + MARSHALLED)
    assert run(path).stderr == f"{path}: EXACT\n"


@pytest.mark.parametrize("version", interpreters.VERSIONS, ids=interpreters.label)
def test_the_version_of_marshal_data_is_found(version: tuple[int, int]) -> None:
    data = pyc_of(SOURCE, version)[16:]
    loaded = load_assuming(data, source="dump")
    dotted = ".".join(map(str, version))
    assert loaded.code.version == version or f"{dotted}" in loaded.assumed
    assert load_assuming(data, source="dump", python=version).code.version == version


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no marshal data of a code object follows"),
        (bytes(64), "no marshal data of a code object follows"),
        (MAGIC + bytes(12) + marshal.dumps((1, 2)), "contains tuple instead of a code object"),
        (MARSHALLED[:-9], "no marshal data of a code object follows"),
        ((240).to_bytes(2, "little") + b"\r\n" + bytes(12) + MARSHALLED, "a file of PyPy"),
    ],
)
def test_what_fits_no_version_is_refused_with_the_path_once(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "m.pyc"
    path.write_bytes(data)
    done = run(path)
    assert done.exit_code == EXIT_FAILED
    assert reason in done.stderr
    assert done.stderr.count("m.pyc") == 1
    assert done.stderr.count("\n") == 1


def test_a_given_version_must_fit() -> None:
    with pytest.raises(DecompilationError, match="the header names Python"):
        load_assuming(MAGIC + bytes(12) + MARSHALLED, source="m", python=(3, 7))


def test_python_needs_a_compiled_file() -> None:
    assert run("os", "--python", "3.11").exit_code == EXIT_USAGE


def archive(path: Path, members: dict[str, bytes]) -> Path:
    """Write a zipapp: a line for the shell, then a zip archive."""
    with path.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as opened:
            for name, data in members.items():
                opened.writestr(name, data)
    return path


def test_an_archive_becomes_a_tree(tmp_path: Path) -> None:
    compiled = MAGIC + bytes(12) + MARSHALLED
    members = {"__main__.py": b"print(1)\n", "pkg/m.pyc": compiled, "pkg/data.txt": b"text"}
    done = run(archive(tmp_path / "app.pyz", members), "-o", tmp_path / "out", "-j", "1")
    assert done.exit_code == EXIT_DONE
    assert done.stdout.startswith("2 files: 2 EXACT\n")
    assert (tmp_path / "out" / "pkg" / "m.py").read_text(encoding="utf-8") == SOURCE


def test_an_archive_needs_a_folder(tmp_path: Path) -> None:
    done = run(archive(tmp_path / "app.pyz", {"__main__.py": b""}))
    assert done.exit_code == EXIT_USAGE
    assert "an archive needs -o FOLDER" in done.stderr


@pytest.mark.parametrize("name", ["../m.py", "/m.py", "a/../../m.py", "a\\m.py"])
def test_a_member_never_leaves_the_folder(tmp_path: Path, name: str) -> None:
    done = run(archive(tmp_path / "app.whl", {name: b"x = 1\n"}), "-o", tmp_path / "deep" / "out")
    assert done.exit_code == EXIT_FAILED
    assert "leads out of the archive" in done.stderr
    assert [path.name for path in tmp_path.rglob("*.py")] == []


def test_a_module_of_another_python_in_an_archive_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = next(version for version in interpreters.VERSIONS if version != RUNNING and interpreters.find(version))
    path = archive(tmp_path / "app.zip", {"packed_module.pyc": pyc_of(SOURCE, other)})
    monkeypatch.syspath_prepend(str(path))
    done = run("packed_module")
    assert done.exit_code == EXIT_DONE
    assert done.stdout == SOURCE
