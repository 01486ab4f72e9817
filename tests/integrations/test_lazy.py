"""No framework is imported before its callback is, and a missing one is named."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_nothing_imports_a_framework() -> None:
    code = (
        "import sys, depyf, depyf.integrations\n"
        "found = {'transformers', 'lightning', 'pytorch_lightning', 'accelerate', 'torch'} & set(sys.modules)\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["transformers", "lightning", "accelerate"])
def test_a_missing_framework_is_named(name: str) -> None:
    blocked = f"import sys\nfor name in ('{name}', 'pytorch_lightning'): sys.modules[name] = None\n"
    code = f"{blocked}import depyf.integrations.{name}\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ImportError" in done.stderr or "ModuleNotFoundError" in done.stderr
    assert name in done.stderr.splitlines()[-1] or "pytorch_lightning" in done.stderr.splitlines()[-1]
