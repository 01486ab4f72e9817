#!/usr/bin/env bash
# torch 2.13.0, Python 3.11, Inductor (needs a C++ compiler): a float32 tensor times a number of a `random.Random` of
# the program's own is not even near: the number is handed over as a double, and the kernel reads its first four bytes
# as a float. The backends eager and aot_eager compute with the number. No error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import random

import torch

own = random.Random(1)


def scaled(x):
    return x * own.random()


for backend in ("eager", "inductor"):
    torch._dynamo.reset()
    own.seed(1)
    value = torch.compile(scaled, backend=backend)(torch.ones(2))[0].item()
    print(backend, f"{value:.4g}", "expected", f"{random.Random(1).random():.4g}")
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "eager 0.1344 expected 0.1344
inductor -5.045e+34 expected 0.1344"
