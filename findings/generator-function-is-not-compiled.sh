#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: torch.compile of a generator function compiles nothing and says nothing: no graph, no
# break, no warning. Only `fullgraph=True` raises. An `async def`, which has no `yield`, is compiled.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import asyncio

import torch
from torch._dynamo.utils import counters


@torch.compile(backend="eager")
def batches(x):
    yield x.sin() + 1


@torch.compile(backend="eager")
async def batch(x):
    return x.sin() + 1


list(batches(torch.ones(2)))
print("generator", counters["stats"]["unique_graphs"], "breaks", len(counters["graph_break"]))
asyncio.run(batch(torch.ones(2)))
print("coroutine", counters["stats"]["unique_graphs"])
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "generator 0 breaks 0
coroutine 1"
