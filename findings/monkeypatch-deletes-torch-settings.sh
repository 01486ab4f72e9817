#!/usr/bin/env bash
# pytest 9.2.0 with torch 2.13.0: after `monkeypatch.setattr(torch._dynamo.config, NAME, value)` is undone, the setting NAME no
# longer exists, and every later compile in the process fails with AttributeError. pytest restores the entry of the object's
# `__dict__`; torch keeps its settings elsewhere, so pytest finds none there and deletes the attribute. The test itself passes;
# others fail, depending on their order. `with torch._dynamo.config.patch(NAME=value)` restores the setting.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0' 'pytest==9.2.0'
cat > "$folder/program.py" <<'PY'
import pytest
import torch
import torch._dynamo

config = torch._dynamo.config
with config.patch(suppress_errors=True):
    pass
print("patched", hasattr(config, "suppress_errors"))
with pytest.MonkeyPatch.context() as monkeypatch:
    monkeypatch.setattr(config, "suppress_errors", True)
print("monkeypatched", hasattr(config, "suppress_errors"))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "patched True
monkeypatched False"
