#!/usr/bin/env bash
# torch 2.13.0: with `print` in `torch._dynamo.config.reorderable_logging_functions`, a print of a tensor is moved behind the
# graph if it stands in the compiled function. If it stands in a function that Dynamo inlines, it is lost: no output, no
# warning, no graph break. A print of sizes alone appears in both places.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import contextlib
import io

import torch

torch._dynamo.config.reorderable_logging_functions.add(print)


def show(x):
    print("sum", x.sum())


def direct(x):
    print("sum", x.sum())
    return x * 2


def inlined(x):
    show(x)
    return x * 2


for function in (direct, inlined):
    torch._dynamo.reset()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        torch.compile(function, backend="eager")(torch.ones(2))
    print(function.__name__, repr(printed.getvalue()))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "direct 'sum tensor(2.)\n'
inlined ''"
