"""What every test runs with."""

from __future__ import annotations

import os
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent

# Children find this tree too, installed or not.
_paths = [str(_ROOT / "src"), str(_ROOT), os.environ.get("PYTHONPATH", "")]
os.environ["PYTHONPATH"] = os.pathsep.join(path for path in _paths if path)
# A pool of compile workers costs more than the kernels of these tests.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# Each test proves anew, also after the code of depyf has changed in memory.
os.environ["DEPYF_PROOFS"] = "0"
# Every pass is checked after it has run, in this process and in its children.
os.environ["DEPYF_CHECK"] = "1"

import pytest  # noqa: E402

import depyf.decompiler.api  # noqa: E402, F401 - begins to check
from tests.tiers import is_second  # noqa: E402


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves to `make test-all`."""
    for item in items:
        path = item.path.relative_to(_ROOT).as_posix()
        if is_second(path) or item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.second)
