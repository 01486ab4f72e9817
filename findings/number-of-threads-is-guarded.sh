#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: `torch.set_num_threads` between two calls makes Dynamo compile the function again: the
# number of threads is part of the global state that each graph is guarded on. A data loader or a server that changes it
# per request compiles per number, and reaches the limit of recompiles.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch
from torch._dynamo.utils import counters


@torch.compile(backend="eager")
def double(x):
    return x * 2


for threads in (1, 2, 3, 1):
    torch.set_num_threads(threads)
    double(torch.ones(1))
    print(threads, counters["stats"]["unique_graphs"])
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "1 1
2 2
3 3
1 3"
