#!/usr/bin/env bash
# torch 2.13.0, Python 3.11, backend aot_eager (Inductor shares it): if only one output of a compiled function is used,
# the parameters of the other get a gradient of zeros. In eager mode their `grad` stays None, and an optimizer skips
# them. With zeros, Adam's momentum and weight decay move parameters that took no part. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch


def two_heads(x, first, second):
    return x * first, x * second


def moved(function):
    first, second = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    optimizer = torch.optim.AdamW([first, second], lr=0.1, weight_decay=0.5)
    used, _ = function(torch.ones(2), first, second)
    used.sum().backward()
    optimizer.step()
    return second.grad is None, round(second[0].item(), 2)


print("eager", *moved(two_heads))
print("compiled", *moved(torch.compile(two_heads, backend="aot_eager")))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "eager True 1.0
compiled False 0.95"
