"""The package itself: its public names, its version, and life without torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

import depyf
from depyf import version

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import depyf
from depyf import decompile, DecompilationError
print(decompile((lambda a: a + 1).__code__))
try:
    depyf.prepare_debug
except ImportError as error:
    print(error)
"""


def test_every_public_name_is_there() -> None:
    for name in depyf.__all__:
        assert getattr(depyf, name) is not None
        assert name in dir(depyf)


def test_the_version_has_one_place() -> None:
    assert depyf.__version__ == version.__version__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        depyf.nothing  # noqa: B018


def test_without_torch_the_decompiler_works_and_the_rest_says_why_not() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=True)
    assert "a + 1" in done.stdout
    assert "depyf.prepare_debug needs torch" in done.stdout
