#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: NumPy code under torch.compile runs as torch operations, and types change. A reduction
# gives an array without dimensions instead of a NumPy scalar, which is no key of a dict and no instance of float. int8
# divided by a number is float32 instead of NumPy's float64. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import numpy as np
import torch


def summary(a):
    return a.mean(), a / 2


a = np.arange(1, 5, dtype=np.int8)
for name, function in (("plain", summary), ("compiled", torch.compile(summary, backend="eager"))):
    mean, half = function(a)
    print(name, type(mean).__name__, isinstance(mean, float), half.dtype)
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "plain float64 True float64
compiled ndarray False float32"
