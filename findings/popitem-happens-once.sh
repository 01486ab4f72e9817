#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: `dict.popitem()` in compiled code takes an item in the first call only. The second call
# uses the same graph, because the items are not guarded, and leaves the dict as it is: a queue of work that is never
# emptied. No warning, no recompile.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch


def left_after_two(backend):
    work = {"a": 1, "b": 2, "c": 3}

    def step(x):
        work.popitem()
        return x + 1

    function = torch.compile(step, backend=backend) if backend else step
    function(torch.ones(1))
    function(torch.ones(1))
    return list(work)


print("plain", left_after_two(None), "compiled", left_after_two("eager"))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "plain ['a'] compiled ['a', 'b']"
