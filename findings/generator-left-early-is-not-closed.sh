#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: a generator that compiled code leaves early (`break`) is never closed: its `finally` does
# not run, so that a lock stays held or a file open. In plain Python it runs as soon as the generator is released. No
# warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch


def closed(compiles):
    log = []

    def numbers():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    def first(x):
        for number in numbers():
            break
        return x + number

    function = torch.compile(first, backend="eager", fullgraph=True) if compiles else first
    function(torch.ones(1))
    return log


print("plain", closed(False), "compiled", closed(True))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "plain ['closed'] compiled []"
