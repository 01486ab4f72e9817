"""Code without a valid `.pyc` header is read by trying versions; PyPy's files and junk are refused."""

from __future__ import annotations

import importlib.util
import marshal
import warnings
from pathlib import Path

import pytest

from depyf.api import decompile_pyc, load_pyc
from depyf.decompiler.api import HeaderWarning
from depyf.errors import DecompilationError

CODE = marshal.dumps(compile("def f(x):\n    return x + 1\n", "m.py", "exec"))
MAGIC = importlib.util.MAGIC_NUMBER
HEADERS = {
    "none": b"",
    "4 bytes": MAGIC,
    "8 bytes": MAGIC + bytes(4),
    "12 bytes": MAGIC + bytes(8),
    "zeros": bytes(16),
    "unknown flags": MAGIC + b"\xff\xff\xff\xff" + bytes(8),
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_code_without_a_valid_header_is_read_and_said_so(header: bytes, tmp_path: Path) -> None:
    file = tmp_path / "m.pyc"
    file.write_bytes(header + CODE)
    with pytest.warns(HeaderWarning, match="it has no valid header; read as marshal data of Python") as caught:
        assert decompile_pyc(file) == "def f(x):\n    return x + 1\n"
    assert str(caught[0].message).startswith(f"{file}: ")


JUNK = [b"", b"e", b"\xe3", b"no code at all", bytes(40), CODE + b"x", CODE[:-1], b"\xe3" * 40]


@pytest.mark.parametrize("data", JUNK)
def test_bytes_that_are_no_whole_code_object_are_refused(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", HeaderWarning)
        with pytest.raises(DecompilationError):
            load_pyc(data)


def test_a_file_of_pypy_is_not_guessed() -> None:
    with pytest.raises(DecompilationError, match="a file of PyPy"):
        load_pyc((240).to_bytes(2, "little") + b"\r\n" + bytes(12) + CODE)


def test_a_valid_header_is_not_guessed_around() -> None:
    with pytest.raises(DecompilationError, match="bad marshal data"):
        load_pyc(MAGIC + bytes(12) + CODE[:-1])
