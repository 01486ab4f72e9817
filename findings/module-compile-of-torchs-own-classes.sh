#!/usr/bin/env bash
# torch 2.13.0: `module.compile()` compiles nothing if the class of the module is one of torch's own: Linear, Sequential and
# TransformerEncoderLayer give no graph, no warning and no entry in TORCH_LOGS. Dynamo skips frames of torch's files, and the
# method compiles the call of `forward`, which is in such a file. `torch.compile(module)` and `torch.compile(module.forward)`
# give a graph, and so does the method for a subclass with a `forward` of its own. So `for block in model: block.compile()`
# does nothing for a stack of torch's encoder layers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'torch==2.13.0' 'numpy==2.2.6' 'setuptools==80.9.0'
cat > "$folder/program.py" <<'PY'
import torch
from torch._dynamo.testing import CompileCounter


class Own(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x)


def graphs(module, way):
    torch._dynamo.reset()
    counter = CompileCounter()
    called = module
    if way == "method":
        module.compile(backend=counter)
    elif way == "function":
        called = torch.compile(module, backend=counter)
    else:
        module.forward = torch.compile(module.forward, backend=counter)
    called(torch.ones(1, 3, 8))
    return counter.frame_count


layer = torch.nn.TransformerEncoderLayer
for name, make in (
    ("Linear", lambda: torch.nn.Linear(8, 8)),
    ("Sequential", lambda: torch.nn.Sequential(torch.nn.Linear(8, 8))),
    ("TransformerEncoderLayer", lambda: layer(8, 2, 16, dropout=0.0)),
    ("Own", lambda: Own(8, 8)),
):
    print(name, *(graphs(make(), way) for way in ("method", "function", "forward")))
PY
seen=$("$folder/venv/bin/python" "$folder/program.py" 2>/dev/null)
echo "$seen"
test "$seen" = "Linear 0 1 1
Sequential 0 1 1
TransformerEncoderLayer 0 1 1
Own 1 1 1"
