#!/usr/bin/env bash
# triton 3.9.0, torch 2.13.0, Python 3.11, TRITON_INTERPRET=1: two bfloat16 blocks are added as the integers that hold
# their bits: 1 + 1 is 1.7e38. Programs that test kernels without a GPU see right kernels fail. float16 is right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'triton==3.9.0' 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch
import triton
import triton.language as tl


@triton.jit
def doubled(source, target, size: tl.constexpr):
    place = tl.arange(0, size)
    value = tl.load(source + place)
    tl.store(target + place, value + value)


for dtype in (torch.float16, torch.bfloat16):
    source = torch.ones(4, dtype=dtype)
    target = torch.zeros_like(source)
    doubled[(1,)](source, target, 4)
    print(dtype, target[0].item() == 2)
PY
seen=$(TRITON_INTERPRET=1 "$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "torch.float16 True
torch.bfloat16 False"
