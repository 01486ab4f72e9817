#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: under torch.compile, `isinstance(x, C)` asks the metaclass of C, also where `type(x) is C`.
# CPython answers True for the exact class and never calls `__instancecheck__`. A metaclass that answers False then gives
# another branch in compiled code: 24 as plain Python, 0 compiled. No warning, no graph break.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch


class Never(type):
    def __instancecheck__(cls, other):
        return False


class Tag(metaclass=Never):
    pass


def chosen(x, tag):
    if isinstance(tag, Tag):
        return x * 24
    return x * 0


plain = chosen(torch.ones(1), Tag()).item()
compiled = torch.compile(chosen, backend="eager")(torch.ones(1), Tag()).item()
print("plain", plain, "compiled", compiled)
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "plain 24.0 compiled 0.0"
