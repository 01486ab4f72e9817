#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: an `assert` on a tensor in compiled code raises RuntimeError, so `except AssertionError`
# does not catch it. And what the function did to Python objects before the assert is not done: Dynamo replays side
# effects after the graph, and the graph raised. A log that should tell about the failure is empty.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch

log = []


def checked(x):
    log.append("began")
    assert x.sum() > 0, "the sum is not positive"
    return x + 1


for name, function in (("eager", checked), ("compiled", torch.compile(checked, backend="eager"))):
    function(torch.ones(3))
    log.clear()
    try:
        function(-torch.ones(3))
    except Exception as error:
        print(name, type(error).__name__, log)
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "eager AssertionError ['began']
compiled RuntimeError []"
