#!/usr/bin/env bash
# triton 3.9.0, torch 2.13.0, Python 3.11, TRITON_INTERPRET=1: `tl.sort` of a block with a NaN does not give a
# permutation: the NaN is gone, and another value stands there twice. torch.sort keeps the NaN and puts it last.
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
def ordered(source, target, size: tl.constexpr):
    place = tl.arange(0, size)
    tl.store(target + place, tl.sort(tl.load(source + place)))


source = torch.tensor([1.0, float("nan"), 3.0, 2.0])
target = torch.zeros(4)
ordered[(1,)](source, target, 4)
print(target.tolist(), source.sort()[0].tolist())
PY
seen=$(TRITON_INTERPRET=1 "$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "[1.0, 1.0, 2.0, 3.0] [1.0, 2.0, 3.0, nan]"
