#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: a `torch.profiler.record_function` inside compiled code leaves no trace: Dynamo drops it,
# and the profile has no row of its name. There is no warning and no graph break. The same function in eager mode has
# the row.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch
from torch.profiler import profile, record_function


def step(x):
    with record_function("attention"):
        y = x.sin()
    return y + 1


def has_row(function):
    function(torch.ones(4))
    with profile() as measured:
        function(torch.ones(4))
    return any(row.key == "attention" for row in measured.key_averages())


print("eager", has_row(step), "compiled", has_row(torch.compile(step, backend="eager", fullgraph=True)))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "eager True compiled False"
