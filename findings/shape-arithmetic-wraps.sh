#!/usr/bin/env bash
# torch 2.13.0, Python 3.11, Inductor (needs a C++ compiler): Python's integers have no limit, also those of a shape.
# With a dynamic size, Inductor computes an expression of sizes in the kernel in 64 bits: it wraps silently, and `%` of
# the wrapped number can be negative. Plain Python adds 1 for each size, compiled code 4, 2 and -5. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch


def shifted(x):
    return x + x.shape[0] ** 12 % 7


compiled = torch.compile(shifted, dynamic=True)
for size in (100, 101, 1000):
    print(int(shifted(torch.zeros(size))[0]), int(compiled(torch.zeros(size))[0]))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "1 4
1 2
1 -5"
