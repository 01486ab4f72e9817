#!/usr/bin/env bash
# torch 2.13.0, Python 3.11: what a program assigns to `torch._dynamo.config` or `torch._inductor.config` holds in the
# thread that assigned it. A thread that starts later reads the default. A server that sets a limit at start and
# compiles in worker threads compiles with the default limit. (A stance of torch.compiler does reach other threads.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import threading

import torch
import torch._dynamo
import torch._inductor.config

torch._dynamo.config.recompile_limit = 2
torch._inductor.config.max_autotune = True


def show(name):
    print(name, torch._dynamo.config.recompile_limit, torch._inductor.config.max_autotune)


show("main")
thread = threading.Thread(target=show, args=("worker",))
thread.start()
thread.join()
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "main 2 True
worker 8 False"
