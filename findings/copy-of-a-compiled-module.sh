#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: `copy.deepcopy` of a module on which `Module.compile()` was called gives a module that is
# not compiled: the copy runs eager, without a warning. It hits copies for an exponential moving average or a target
# network. A copy of what `torch.compile(module)` returns stays compiled.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import copy

import torch
from torch._dynamo.utils import counters


class Net(torch.nn.Module):
    def forward(self, x):
        return x.relu() + 1


def graphs(module):
    torch._dynamo.reset()
    counters.clear()
    module(torch.ones(2))
    return counters["stats"]["unique_graphs"]


net = Net()
net.compile(backend="eager")
print("Module.compile", graphs(net), "copy", graphs(copy.deepcopy(net)))
wrapped = torch.compile(Net(), backend="eager")
print("torch.compile", graphs(wrapped), "copy", graphs(copy.deepcopy(wrapped)))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "Module.compile 1 copy 0
torch.compile 1 copy 1"
