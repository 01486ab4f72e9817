#!/usr/bin/env bash
# torch 2.13.0, Python 3.11, CPU with AVX2 or AVX-512: eager `gelu` of infinity depends on the number of elements. One
# element goes through the scalar code and gives infinity; in a longer tensor the vectorised code gives NaN. Whoever
# compares eager with compiled results meets it as a difference, and eager mode is the wrong side.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch

infinity = float("inf")
one = torch.nn.functional.gelu(torch.full((1,), infinity))
many = torch.nn.functional.gelu(torch.full((64,), infinity))
print(one[0].item(), many[0].item(), torch.nn.functional.gelu(torch.full((64,), 1e30))[0].isfinite().item())
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "inf nan True"
