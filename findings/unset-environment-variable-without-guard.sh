#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: `os.environ.get(name, default)` of a variable that is not set becomes a constant without a
# guard: when the program sets the variable later, compiled code goes on with the default. A plain dict without the key
# is guarded and compiles again; so is a variable that was set in the first call.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import os

import torch

settings = {}


@torch.compile(backend="eager")
def from_environment(x):
    return x * float(os.environ.get("PROBE_SCALE", "1"))


@torch.compile(backend="eager")
def from_dict(x):
    return x * float(settings.get("PROBE_SCALE", "1"))


print("unset", from_environment(torch.ones(1)).item(), from_dict(torch.ones(1)).item())
os.environ["PROBE_SCALE"] = settings["PROBE_SCALE"] = "5"
print("set", from_environment(torch.ones(1)).item(), from_dict(torch.ones(1)).item())
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "unset 1.0 1.0
set 1.0 5.0"
