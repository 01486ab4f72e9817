"""The package itself: its public names, its version, and life without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import depyf
from depyf import version
from tests.interpreters import label, need, run

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


EVERY_MODULE = """
import importlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
for path in sorted((root / "depyf").rglob("*.py")):
    name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    if path.stem == "__main__" or "boot" in path.parts:
        continue
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert not str(error.name).startswith("depyf"), error
    except ImportError as error:
        assert "torch" in str(error), f"{name}: {error}"
print("imported")
"""


@pytest.mark.parametrize("python", [(3, 10), (3, 14)], ids=label)
def test_every_module_can_be_imported_by_the_first_and_the_last_python(python: tuple[int, int]) -> None:
    source = Path(depyf.__file__).parents[1]
    script = f"import sys; sys.path.insert(0, {str(source)!r}); sys.modules['torch'] = None\n{EVERY_MODULE}"
    assert run(need(python), script, str(source)).strip() == "imported"
