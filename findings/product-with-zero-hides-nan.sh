#!/usr/bin/env bash
# torch 2.13.0, Python 3.11, Inductor (needs a C++ compiler): `x * 0` and `0 / x` become a constant zero. In eager mode
# a NaN or an infinity in x gives NaN, which is how programs keep the graph alive or spread a NaN on purpose. The
# backend aot_eager still gives NaN. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch


def marked(x):
    return x * 0, 0 / x


x = torch.tensor([float("nan"), float("inf")])
for backend in ("aot_eager", "inductor"):
    torch._dynamo.reset()
    print(backend, [part.tolist() for part in torch.compile(marked, backend=backend)(x)])
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "aot_eager [[nan, nan], [nan, 0.0]]
inductor [[0.0, 0.0], [0.0, 0.0]]"
