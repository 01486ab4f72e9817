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
# Every pass is checked after it has run, in this process and in its children.
os.environ["DEPYF_CHECK"] = "1"

import depyf.decompiler.api  # noqa: E402, F401 - begins to check
