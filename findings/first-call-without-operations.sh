#!/usr/bin/env bash
# torch 2.13.0: if the first call of a compiled function takes a way without any operation on tensors, Dynamo skips the function
# for good: all later calls run uncompiled, although they have operations. No warning. With the other call first there are two
# graphs. Stochastic depth that drops every layer in the first step is such a program.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch
from torch._dynamo.testing import CompileCounter


def forward(x, draws):
    for draw in draws:
        if draw > 0.5:
            x = torch.sin(x)
    return x


def graphs(*calls):
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(forward, backend=counter)
    for draws in calls:
        compiled(torch.ones(2), draws)
    return counter.frame_count


dropped, kept = (0.1, 0.2), (0.7, 0.8)
print("dropped first", graphs(dropped, kept, kept))
print("kept first", graphs(kept, dropped, kept))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "dropped first 0
kept first 2"
