#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: BackendCompilerFailed is raised `from None`. If a backend raises `A from B`, the traceback
# that a user sees has A's message and no trace of B. The exception itself has no `__cause__`; only the attribute
# `inner_exception` leads to A, and from there to B.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import traceback

import torch


def backend(module, inputs):
    try:
        int("x")
    except ValueError as error:
        raise RuntimeError("cannot build") from error


try:
    torch.compile(lambda x: x * 2, backend=backend)(torch.ones(1))
except Exception as error:
    text = "".join(traceback.format_exception(error))
    print("cause", error.__cause__, "inner", type(error.inner_exception).__name__, "printed", "invalid literal" in text)
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "cause None inner RuntimeError printed False"
