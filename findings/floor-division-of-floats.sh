#!/usr/bin/env bash
# torch 2.13.0, Python 3.11, Inductor (needs a C++ compiler): eager `x // y` of floats starts from the exact remainder,
# as Python's does, so that 2.5 // 0.1 is 24. Inductor writes floor(x / y), which rounds up to 25 first: off by a whole
# unit. An infinity divided is NaN in eager mode and an infinity in compiled code. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch


def bins(x):
    return x // 0.1


x = torch.tensor([2.5, float("inf")])
print(2.5 // 0.1, bins(x).tolist(), torch.compile(bins)(x).tolist())
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "24.0 [24.0, nan] [25.0, inf]"
