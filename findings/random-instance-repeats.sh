#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: the functions of the module `random` give their real stream in compiled code, but a
# `random.Random` of the program's own gives the same number in each call: its state is a constant of the graph's code
# and is put back afterwards in the same place. No warning, no recompile.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import random

import torch

own = random.Random(1)


@torch.compile(backend="eager")
def with_own(x):
    return x * own.random()


@torch.compile(backend="eager")
def with_module(x):
    return x * random.random()


x = torch.ones(1, dtype=torch.float64)
expected = random.Random(1)
print("expected", [round(expected.random(), 3) for _ in range(3)])
print("own", [round(with_own(x).item(), 3) for _ in range(3)])
random.seed(1)
print("module", [round(with_module(x).item(), 3) for _ in range(3)])
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "expected [0.134, 0.847, 0.764]
own [0.134, 0.134, 0.134]
module [0.134, 0.847, 0.764]"
