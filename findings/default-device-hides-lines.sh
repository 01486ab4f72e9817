#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: after `torch.set_default_device`, each node's stack trace in a Dynamo graph ends in
# torch/utils/_device.py, the mode through which every call goes. `print_readable`, and each tool that reads the last
# frame, then names that file beside all operations; without a default device it names the user's line.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import re

import torch


def step(x):
    y = torch.sin(x)
    return torch.add(y, 1)


def files():
    names = set()

    def backend(graph, inputs):
        text = graph.print_readable(print_output=False)
        names.update(re.findall(r"# File: \S*?([^/\s]+\.py):", text))
        return graph.forward

    torch._dynamo.reset()
    torch.compile(step, backend=backend)(torch.ones(2))
    return sorted(names)


print("plain", files())
torch.set_default_device("cpu")
print("default device", files())
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "plain ['program.py']
default device ['_device.py']"
